export const agentx = {
  "model": "deepseek-ai/DeepSeek-V4.1-Flash",
  "generatedOn": "2026-10-13",
  "source": {
    "repo": "SemiAnalysisAI/InferenceX",
    "main": "{{base}}",
    "prs": {
      "9264": {
        "sha": "{{head}}",
        "run": 38412750933,
        "status": "verified-pr"
      }
    }
  },
  "hardware": [
    "GB200"
  ],
  "checkpoints": [
    "deepseek-ai/DeepSeek-V4.1-Flash"
  ],
  "envs": [
    {
      "SGLANG_DEFAULT_THINKING": "1",
      "SGLANG_DSV41_REASONING_EFFORT": "high",
      "SGLANG_ENABLE_DSV41_ENGRAM_HOST_TABLE": "1",
      "SGLANG_DSV41_ENGRAM_HOST_TABLE_LAYOUT": "per_rank",
      "SGLANG_TIMEOUT_KEEP_ALIVE": "900"
    }
  ],
  "files": {},
  "cells": [
    {
      "id": "gb200-agg-tp4-ep4",
      "hw": "GB200",
      "ckpt": "deepseek-ai/DeepSeek-V4.1-Flash",
      "label": "Agg TP4·EP4",
      "detail": "DSpark 5",
      "gpus": 4,
      "configKey": "dsv41flash-fp4-gb200-sglang-agentic-dspark",
      "image": "lmsysorg/sglang:nightly-dev-cu13-20261011-d32d8fa0@sha256:8346c975515af7ec6b2692faadd5332f789001f78f958335175d4d34e170537c",
      "submitted": "sglang",
      "setup": [],
      "disclosures": [
        "synthetic-acceptance"
      ],
      "kv": "none",
      "prov": {
        "sha": "{{head}}",
        "recipe": "inferencex-e2e/benchmarks/single_node/srt-slurm-recipes/dsv41flash/sglang/gb200-fp4-mtp/agentic.yaml",
        "run": 38412750933,
        "pr": 9264,
        "status": "verified-pr",
        "date": "2026-10-12"
      },
      "points": [
        {
          "concs": [
            1
          ],
          "override": "override_tp4_c1",
          "goldenAL": 3.51,
          "kv": "none"
        },
        {
          "concs": [
            4
          ],
          "override": "override_tp4_c4",
          "goldenAL": 3.51,
          "kv": "none",
          "patch": {
            "sglang": [
              {
                "args": {
                  "--max-running-requests": [
                    "8"
                  ],
                  "--prefill-decode-interval": [
                    "384"
                  ]
                }
              }
            ]
          }
        },
        {
          "concs": [
            8
          ],
          "override": "override_tp4_c8",
          "goldenAL": 3.51,
          "kv": "none",
          "patch": {
            "sglang": [
              {
                "args": {
                  "--max-running-requests": [
                    "16"
                  ],
                  "--swa-prefix-tails": [
                    "256"
                  ],
                  "--prefill-decode-interval": [
                    "384"
                  ]
                }
              }
            ]
          }
        },
        {
          "concs": [
            16
          ],
          "override": "override_tp4_c16",
          "goldenAL": 3.51,
          "kv": "none",
          "patch": {
            "sglang": [
              {
                "args": {
                  "--max-running-requests": [
                    "32"
                  ],
                  "--swa-prefix-tails": [
                    "512"
                  ],
                  "--prefill-decode-interval": [
                    "96"
                  ]
                }
              }
            ]
          }
        }
      ],
      "routers": {
        "sglang": {
          "install": [],
          "files": [],
          "blocks": [
            {
              "kind": "worker",
              "role": "agg",
              "workers": 1,
              "nodes_per_worker": 1,
              "cmd": "python3 -m sglang.launch_server",
              "envRef": 0,
              "args": [
                [
                  "--model-path",
                  "deepseek-ai/DeepSeek-V4.1-Flash"
                ],
                [
                  "--served-model-name",
                  "deepseek-ai/DeepSeek-V4.1-Flash"
                ],
                [
                  "--tensor-parallel-size",
                  "4"
                ],
                [
                  "--expert-parallel-size",
                  "4"
                ],
                [
                  "--speculative-algorithm",
                  "DSPARK"
                ],
                [
                  "--speculative-dspark-block-size",
                  "5"
                ],
                [
                  "--cuda-graph-max-bs-decode",
                  "64"
                ],
                [
                  "--mem-fraction-static",
                  "0.76"
                ],
                [
                  "--reasoning-parser",
                  "auto"
                ],
                [
                  "--tool-call-parser",
                  "auto"
                ],
                [
                  "--trust-remote-code"
                ],
                [
                  "--watchdog-timeout",
                  "3600"
                ],
                [
                  "--chunked-prefill-size",
                  "8192"
                ],
                [
                  "--max-running-requests",
                  "2"
                ],
                [
                  "--swa-prefix-tails",
                  "128"
                ],
                [
                  "--prefill-decode-interval",
                  "16"
                ]
              ]
            }
          ]
        }
      }
    },
    {
      "id": "gb200-agg-dep4",
      "hw": "GB200",
      "ckpt": "deepseek-ai/DeepSeek-V4.1-Flash",
      "label": "Agg DEP4",
      "detail": "DSpark 5",
      "gpus": 4,
      "configKey": "dsv41flash-fp4-gb200-sglang-agentic-dspark",
      "image": "lmsysorg/sglang:nightly-dev-cu13-20261011-d32d8fa0@sha256:8346c975515af7ec6b2692faadd5332f789001f78f958335175d4d34e170537c",
      "submitted": "sglang",
      "setup": [],
      "disclosures": [
        "synthetic-acceptance"
      ],
      "kv": "none",
      "prov": {
        "sha": "{{head}}",
        "recipe": "inferencex-e2e/benchmarks/single_node/srt-slurm-recipes/dsv41flash/sglang/gb200-fp4-mtp/agentic.yaml",
        "run": 38412750933,
        "pr": 9264,
        "status": "verified-pr",
        "date": "2026-10-12"
      },
      "points": [
        {
          "concs": [
            32
          ],
          "override": "override_dep4_c32",
          "goldenAL": 3.51,
          "kv": "none"
        },
        {
          "concs": [
            64
          ],
          "override": "override_dep4_c64",
          "goldenAL": 3.51,
          "kv": "none",
          "patch": {
            "sglang": [
              {
                "args": {
                  "--chunked-prefill-size": [
                    "65536"
                  ],
                  "--prefill-decode-interval": [
                    "72"
                  ]
                }
              },
              null
            ]
          }
        },
        {
          "concs": [
            128
          ],
          "override": "override_dep4_c128",
          "goldenAL": 3.51,
          "kv": "none",
          "patch": {
            "sglang": [
              {
                "args": {
                  "--chunked-prefill-size": [
                    "65536"
                  ],
                  "--prefill-decode-interval": [
                    "24"
                  ]
                }
              },
              null
            ]
          }
        },
        {
          "concs": [
            192
          ],
          "override": "override_dep4_c192",
          "goldenAL": 3.51,
          "kv": "none",
          "patch": {
            "sglang": [
              {
                "args": {
                  "--chunked-prefill-size": [
                    "65536"
                  ],
                  "--max-running-requests": [
                    "384"
                  ],
                  "--swa-prefix-tails": [
                    "3072"
                  ],
                  "--prefill-decode-interval": [
                    "12"
                  ]
                }
              },
              null
            ]
          }
        }
      ],
      "routers": {
        "sglang": {
          "install": [],
          "files": [],
          "blocks": [
            {
              "kind": "worker",
              "role": "agg",
              "workers": 1,
              "nodes_per_worker": 1,
              "cmd": "python3 -m sglang.launch_server",
              "envRef": 0,
              "args": [
                [
                  "--model-path",
                  "deepseek-ai/DeepSeek-V4.1-Flash"
                ],
                [
                  "--served-model-name",
                  "deepseek-ai/DeepSeek-V4.1-Flash"
                ],
                [
                  "--tensor-parallel-size",
                  "4"
                ],
                [
                  "--expert-parallel-size",
                  "4"
                ],
                [
                  "--speculative-algorithm",
                  "DSPARK"
                ],
                [
                  "--speculative-dspark-block-size",
                  "5"
                ],
                [
                  "--cuda-graph-max-bs-decode",
                  "64"
                ],
                [
                  "--mem-fraction-static",
                  "0.76"
                ],
                [
                  "--reasoning-parser",
                  "auto"
                ],
                [
                  "--tool-call-parser",
                  "auto"
                ],
                [
                  "--trust-remote-code"
                ],
                [
                  "--watchdog-timeout",
                  "3600"
                ],
                [
                  "--data-parallel-size",
                  "4"
                ],
                [
                  "--enable-dp-attention"
                ],
                [
                  "--enable-dp-lm-head"
                ],
                [
                  "--enable-dp-attention-local-control-broadcast"
                ],
                [
                  "--load-balance-method",
                  "total_requests"
                ],
                [
                  "--tokenizer-worker-num",
                  "8"
                ],
                [
                  "--chunked-prefill-size",
                  "32768"
                ],
                [
                  "--max-running-requests",
                  "256"
                ],
                [
                  "--swa-prefix-tails",
                  "2048"
                ],
                [
                  "--prefill-decode-interval",
                  "88"
                ]
              ]
            },
            {
              "kind": "sglang-router",
              "role": "agg",
              "workers": 1,
              "nodes_per_worker": 1,
              "cmd": "python3 -m sglang_router.launch_router",
              "args": [
                [
                  "--policy",
                  "cache_aware"
                ],
                [
                  "--request-id-headers",
                  "x-correlation-id"
                ],
                [
                  "--dp-aware"
                ],
                [
                  "--connect-timeout-secs",
                  "900"
                ],
                [
                  "--request-timeout-secs",
                  "14400"
                ],
                [
                  "--disable-health-check"
                ],
                [
                  "--disable-retries"
                ],
                [
                  "--worker-urls",
                  "http://WORKER:30000"
                ]
              ]
            }
          ]
        }
      }
    }
  ]
};
