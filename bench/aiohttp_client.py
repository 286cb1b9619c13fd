"""An asyncio client for chat streams, built like most benchmarks of model servers.

Requests arrive at random times at RATE per second, wait for one of SLOTS, and
only then start their clock.  A response with status 200 is a success.
Usage: aiohttp_client.py URL RATE SECONDS SLOTS
Prints "<successes> <failures> <p50 ms> <p99 ms>".
"""

import asyncio
import json
import random
import sys
import time

import aiohttp


async def ask(session, url, slots, latencies, failures):
    body = {"model": "stub", "stream": True, "max_tokens": 8, "messages": [{"role": "user", "content": "Hello"}]}
    async with slots:
        start = time.perf_counter()
        try:
            async with session.post(url, json=body) as response:
                if response.status != 200:
                    failures.append(response.status)
                    return
                async for line in response.content:
                    line = line.strip()
                    if line.startswith(b"data: ") and line != b"data: [DONE]":
                        json.loads(line[6:])
        except (aiohttp.ClientError, asyncio.TimeoutError) as error:
            failures.append(error)
            return
        latencies.append((time.perf_counter() - start) * 1000)


async def main():
    url, rate, seconds, slots = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    rng = random.Random(1)
    latencies, failures, tasks = [], [], []
    free = asyncio.Semaphore(slots)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            tasks.append(asyncio.create_task(ask(session, url, free, latencies, failures)))
            await asyncio.sleep(rng.expovariate(rate))
        await asyncio.gather(*tasks)
    latencies.sort()
    at = lambda q: latencies[int(q * (len(latencies) - 1))] if latencies else float("nan")
    print(f"{len(latencies)} {len(failures)} {at(0.5):.1f} {at(0.99):.1f}")


asyncio.run(main())
