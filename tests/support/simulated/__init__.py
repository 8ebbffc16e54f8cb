"""A cluster in memory with one MSJob in it, its operator, and the laws that hold whatever befalls them.

- `cluster`: the API server: objects, versions, watches.
- `kubelets`: scheduler, nodes and what runs on them: what truly becomes of pods, and when that is told.
- `operator`: decides with `decide`, acts by halves, sees late, waits for its timers.
- `laws`, `blame`, `rest`: what must hold at each write, of each verdict, and whenever the operator is up to date.
- `world`: all of it, and the time.
- `shapes`, `life`: jobs, and random lives of them; `soak` runs lives for as long as asked.
"""
