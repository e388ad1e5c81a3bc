(function () {
  "use strict";
  var section = document.getElementById("panels");
  var said = document.getElementById("panels-said");
  var all = document.getElementById("panels-all");
  var rows = Array.from(section.querySelectorAll("tr[data-features]"));
  var buttons = [];
  function show(pressed) {
    var feature = pressed && pressed.dataset.feature;
    rows.forEach(function (row) {
      row.hidden = feature !== null && row.dataset.features.split(" ").includes(feature);
    });
    buttons.forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.parentNode.dataset.feature === feature));
    });
    said.textContent = pressed ? pressed.dataset.says : said.dataset.says;
    all.disabled = !pressed;
  }
  section.querySelectorAll("[data-feature]").forEach(function (name) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = name.textContent;
    name.replaceChildren(button);
    buttons.push(button);
    button.addEventListener("click", function () {
      show(button.getAttribute("aria-pressed") === "true" ? null : name);
    });
  });
  all.addEventListener("click", function () {
    show(null);
  });
  section.classList.add("live");
  show(null);
})();
