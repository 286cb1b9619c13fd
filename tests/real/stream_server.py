#!/usr/bin/python3
"""stream_server - stream_server.mjs once more, on Debian's python3-aiohttp.

Usage: stream_server.py [--port N]

POST /MODE/v1/chat/completions or /MODE/v1/completions with max_tokens; the modes are in
stream_modes.json.  The bytes of the events are the same as those of the other.
"""
import argparse
import asyncio
import json
import os

from aiohttp import web

MAX_TOKENS = 10_000

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "stream_modes.json"), encoding="utf-8") as source:
    TABLE = json.load(source)


def chunks(mode, is_chat, max_tokens):
    """The value of each event, in order."""
    head = {
        "id": "stream-1",
        "created": 1,
        "model": "stream",
        "object": "chat.completion.chunk" if is_chat else "text_completion",
    }

    def choice(text, finish):
        if is_chat:
            return {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}
        return {"index": 0, "text": text or "", "finish_reason": finish}

    def chunk(choices, tokens, is_last=False):
        made = {**head, "choices": choices}
        if mode["usage"] == "every" or (mode["usage"] == "end" and is_last):
            made["usage"] = {"prompt_tokens": 1, "completion_tokens": tokens, "total_tokens": tokens + 1}
        elif mode["usage"] == "end":
            made["usage"] = None
        return made

    if is_chat:
        yield chunk([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}], 0)
    tokens, merge = TABLE["tokens"], mode["merge"]
    for made in range(0, max_tokens, merge):
        count = min(merge, max_tokens - made)
        text = "".join(tokens[(made + i) % len(tokens)] for i in range(count))
        yield chunk([choice(text, None)], made + count)
    yield chunk([choice(None, "length")], max_tokens)
    if mode["usage"] != "none":
        yield chunk([], max_tokens, is_last=True)


def event_of(mode, value, index):
    """One event as text, with what the mode puts around it."""
    eol = mode["eol"]
    whole = value if isinstance(value, str) else json.dumps(value, ensure_ascii=mode["ascii"], separators=(",", ":"))
    # Between two members a line break is white space of the JSON.
    lines = [whole[:1], whole[1:]] if mode["twoLines"] and not isinstance(value, str) else [whole]
    dressed = [("data:" if mode["fields"] else "data: ") + line for line in lines]
    if mode["fields"]:
        dressed[:0] = ["event: message", f"id: {index}", "retry: 1000"]
    comment = f": still here{eol}{eol}" if mode["comments"] else ""
    return comment + eol.join(dressed) + eol + eol


def events_of(mode, is_chat, max_tokens):
    """All events as bytes, up to where the mode ends them."""
    values = list(chunks(mode, is_chat, max_tokens))
    half = len(values) // 2
    if mode["end"] == "error":
        values[half:] = [{"error": {"message": "made up", "type": "server_error", "code": 500}}]
    elif mode["end"] == "break":
        values[half:] = []
    elif mode["end"] == "done":
        values.append("[DONE]")
    events = [event_of(mode, value, index) for index, value in enumerate(values)]
    if mode["bom"]:
        events[0] = "\ufeff" + events[0]
    return [event.encode() for event in events]


def cut(event):
    """In two, inside a character if one has several bytes."""
    inside = next((i for i, byte in enumerate(event) if 0x80 <= byte < 0xC0), len(event) // 2)
    return [event[:inside], event[inside:]]


def pieces_of(mode, events):
    """What goes out in one write each."""
    write = mode["write"]
    if write == "byte":
        return [bytes([byte]) for event in events for byte in event]
    if write == "split":
        return [piece for event in events for piece in cut(event)]
    count = len(events) if write == "all" else 1 if write == "event" else write
    return [b"".join(events[i : i + count]) for i in range(0, len(events), count)]


def response_of(mode, pieces):
    """The status and headers, with the framing that the mode has."""
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    if mode["framing"] == "chunked":
        response.enable_chunked_encoding()
    elif mode["framing"] == "length":
        response.content_length = sum(map(len, pieces))
    else:
        response.force_close()
    return response


async def stream(request, mode, is_chat, max_tokens):
    pieces = pieces_of(mode, events_of(mode, is_chat, max_tokens))
    response = response_of(mode, pieces)
    await response.prepare(request)
    first = 1 if is_chat and mode["write"] == "event" else 0  # the role goes out at once
    for i, piece in enumerate(pieces):
        if i == first and mode["firstMs"]:
            await asyncio.sleep(mode["firstMs"] / 1000)
        elif mode["delayMs"]:
            await asyncio.sleep(mode["delayMs"] / 1000)
        await response.write(piece)
        await asyncio.sleep(0)  # so that it is not joined with the next
    if mode["end"] == "break":
        request.transport.close()
        return response
    await response.write_eof()
    return response


def refusal(status, message):
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)


async def handle(request):
    name, api = request.match_info["mode"], request.match_info["api"]
    if name not in TABLE["modes"]:
        return refusal(404, f"no mode '{name}' here")
    try:
        body = await request.json()
        max_tokens = body.get("max_tokens", 16)
    except (ValueError, AttributeError):
        return refusal(400, "the body is not a JSON object")
    if type(max_tokens) is not int or not 1 <= max_tokens <= MAX_TOKENS:
        return refusal(400, f"max_tokens is not an integer from 1 to {MAX_TOKENS}")
    mode = {**TABLE["defaults"], **TABLE["modes"][name]}
    return await stream(request, mode, api != "completions", max_tokens)


async def serve(port):
    app = web.Application()
    app.router.add_post("/{mode}/v1/{api:chat/completions|completions}", handle)
    runner = web.AppRunner(app, handle_signals=True, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, shutdown_timeout=0.1).start()
    print(f"listening on http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    try:
        await asyncio.Event().wait()  # until a signal
    finally:
        await runner.cleanup()


def main():
    parser = argparse.ArgumentParser(description="a made-up OpenAI API that streams in many ways")
    parser.add_argument("--port", type=int, default=0)
    try:
        asyncio.run(serve(parser.parse_args().port))
    except (KeyboardInterrupt, web.GracefulExit):
        pass


if __name__ == "__main__":
    main()
