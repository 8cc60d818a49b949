"""Plain functions that the demo offers as tools: every public function of every module here."""
