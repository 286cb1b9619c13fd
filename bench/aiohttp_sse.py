"""The client loop that most load testers of model servers have, on aiohttp.

Usage: aiohttp_sse.py PORT CONNECTIONS SECONDS PATH BODY
Prints "<events> events in <seconds> s".
"""

import asyncio
import json
import sys
import time

import aiohttp


async def client(session, url, body, end, counts):
    headers = {"Content-Type": "application/json"}
    while time.perf_counter() < end:
        text = ""
        gaps = []
        last = time.perf_counter()
        async with session.post(url, data=body, headers=headers) as response:
            async for line in response.content:
                line = line.strip()
                if not line.startswith(b"data: "):
                    continue
                counts[0] += 1
                data = line[6:].decode()
                if data == "[DONE]":
                    continue
                now = time.perf_counter()
                for choice in json.loads(data).get("choices", []):
                    text += choice.get("delta", {}).get("content") or ""
                gaps.append(now - last)
                last = now
                if now >= end:
                    return


async def main():
    port, connections, seconds, path, body = sys.argv[1:]
    start = time.perf_counter()
    end = start + float(seconds)
    counts = [0]
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        url = f"http://127.0.0.1:{port}{path}"
        tasks = [
            asyncio.create_task(client(session, url, body, end, counts))
            for _ in range(int(connections))
        ]
        _, late = await asyncio.wait(tasks, timeout=float(seconds) + 1)
        for task in late:
            task.cancel()
    print(f"{counts[0]} events in {time.perf_counter() - start:.3f} s")


asyncio.run(main())
