(function () {
  "use strict";
  var slider = document.getElementById("k-slider");
  var shown = document.getElementById("k-shown");
  var panels = Array.from(document.querySelectorAll("#k-panels > details"));
  function show() {
    panels.forEach(function (panel, i) {
      panel.hidden = i !== Number(slider.value);
    });
    var label = panels[slider.value].dataset.label;
    shown.textContent = label;
    slider.setAttribute("aria-valuetext", label);
  }
  panels.forEach(function (panel) {
    panel.open = true;
  });
  document.getElementById("every-k").classList.add("live");
  slider.addEventListener("input", show);
  show();
})();
