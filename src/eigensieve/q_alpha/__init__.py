"""Q-alpha: spectral weights of features. Not "qalpha", which is the public function."""
