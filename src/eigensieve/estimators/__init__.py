"""scikit-learn estimators: the only place that knows scikit-learn's classes."""
