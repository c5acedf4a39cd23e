"""Pins the golden acceptance length on throughput runs and takes it off evaluations."""


def inject(env, engine, golden, eval_only):
    if eval_only:
        return env
    if engine == "sglang":
        env["SGLANG_SIMULATE_ACC_LEN"] = f"{golden:.2f}"
        env["SGLANG_SIMULATE_ACC_METHOD"] = "match-expected"
        env["SGLANG_SIMULATE_ACC_TOKEN_MODE"] = "real-draft-token"
    return env
