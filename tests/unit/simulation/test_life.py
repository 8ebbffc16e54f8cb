"""Long random lives of jobs of every shape: whatever befalls them, the laws of `support.simulated` hold."""

from support.simulated.life import lives

TestClusters = lives("clusters", 40).TestCase
TestLoners = lives("loners", 40).TestCase
TestOthers = lives("others", 30).TestCase
TestRuled = lives("ruled", 30).TestCase
TestElastic = lives("elastic", 20).TestCase
