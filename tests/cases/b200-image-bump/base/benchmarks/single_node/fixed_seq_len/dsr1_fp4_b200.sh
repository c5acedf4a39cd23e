#!/usr/bin/env bash

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP CONC ISL OSL RANDOM_RANGE_RATIO RESULT_FILENAME EP_SIZE DP_ATTENTION

SERVER_LOG=/workspace/server.log
PORT=${PORT:-8888}

export SGLANG_RADIX_FORCE_MISS=1

if [[ "$DP_ATTENTION" == "true" ]]; then
  PARALLEL_ARGS=(
    --data-parallel-size "$TP"
    --enable-dp-attention
    --enable-dp-attention-local-control-broadcast
    --enable-dp-lm-head
    --schedule-conservativeness 0.3
    --enable-prefill-delayer
  )
else
  PARALLEL_ARGS=(--scheduler-recv-interval 10 --enable-symm-mem)
fi

SGLANG_CMD=(
  python3 -m sglang.launch_server
  --model-path "$MODEL"
  --host 0.0.0.0
  --port "$PORT"
  --trust-remote-code
  --tensor-parallel-size "$TP"
  --ep-size "$EP_SIZE"
  --quantization modelopt_fp4
  --kv-cache-dtype fp8_e4m3
  --attention-backend trtllm_mla
  --moe-runner-backend flashinfer_trtllm
  --enable-flashinfer-allreduce-fusion
  --mem-fraction-static 0.82
  --chunked-prefill-size 16384
  --cuda-graph-max-bs 256
  --max-running-requests 256
  --disable-piecewise-cuda-graph
  --stream-interval 10
  "${PARALLEL_ARGS[@]}"
)
"${SGLANG_CMD[@]}" > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"

run_benchmark_serving \
  --model "$MODEL" \
  --port "$PORT" \
  --input-len "$ISL" \
  --output-len "$OSL" \
  --max-concurrency "$CONC" \
  --result-filename "$RESULT_FILENAME" \
  --use-chat-template

if [ "${RUN_EVAL:-false}" = "true" ]; then
  run_eval --framework lm-eval --port "$PORT" --concurrent-requests "$CONC"
fi
