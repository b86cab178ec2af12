"""bluetoothctl, as a program that answers the questions of a pairing."""

import asyncio
import re

PROMPTS = {"compare": r"Confirm passkey (\d{6})", "enter": "Enter passkey", "display": r"Passkey: .*?(\d{6})",
           "agree": "Accept pairing"}
"""The text of each question: the agent compares numbers, enters or shows a passkey, or only agrees."""


class Control:
    """A running bluetoothctl, on the bus that the environment names."""

    def __init__(self, command):
        self.command = command

    async def start(self, capability):
        """Starts it, as an agent with this capability."""
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            *self.command, "--agent", capability, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
        self.text = ""
        await self.expect(None, "Agent registered")

    async def expect(self, line, answer, refuse=None):
        """Sends a line, and waits for text that was not there before."""
        if line is not None:
            self.text = ""
            self.process.stdin.write((line + "\n").encode())
        try:
            async with asyncio.timeout(60):
                while not (found := re.search(answer, self.text, re.DOTALL)):
                    assert not refuse or not re.search(refuse, self.text), f"{line}: {self.text}"
                    piece = await self.process.stdout.read(65536)
                    assert piece, f"bluetoothctl has ended: {self.text}"
                    self.text += re.sub(r"\x1b\[[0-9;]*[mKP]|\r|\x01|\x02", "", piece.decode(errors="replace"))
        except TimeoutError:
            raise AssertionError(f"{line} gave\n{self.text}\nand not {answer}") from None
        return found

    async def end(self):
        self.process.stdin.write(b"quit\n")
        async with asyncio.timeout(30):
            await self.process.communicate()
