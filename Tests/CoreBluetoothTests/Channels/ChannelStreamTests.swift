import BLEHost
import BLEWire
import CoreBluetooth
import Synchronization
import Testing

@Suite("Streams of a channel")
struct ChannelStreamTests {
    let bench = CentralBench()
    let id = ChannelRequestTests.opened.id

    /// Connects, and opens a channel.
    private func open() async throws -> CBL2CAPChannel {
        let peripheral = await bench.connect()
        peripheral.openL2CAPChannel(0x80)
        await bench.tell(.channelOpened(SPSM(wire: 0x80), .success(ChannelRequestTests.opened)))
        _ = bench.session.take()
        return try #require(bench.app.channels.first)
    }

    private func tell(_ event: ChannelEvent) async { await bench.session.tell(.channel(id, event)) }

    @Test("Streams can be polled without a run loop")
    func polled() async throws {
        let channel = try await open()
        let (input, output) = (try #require(channel.inputStream), try #require(channel.outputStream))
        input.open()
        output.open()
        #expect(input.streamStatus == .open && output.streamStatus == .open)
        #expect(!input.hasBytesAvailable && output.hasSpaceAvailable)
        await tell(.received([1, 2, 3]))
        #expect(input.hasBytesAvailable)
        #expect(input.readAll(2) == [1, 2, 3])
        #expect(output.write(0..<250) == 250)
        #expect(
            bench.session.take() == [
                .channel(id, .consumed(3)), .channel(id, .send(Array(0..<100))),
                .channel(id, .send(Array(100..<200))), .channel(id, .send(Array(200..<250))),
            ]
        )
        await tell(.closed(nil))
        #expect(input.streamStatus == .atEnd && output.streamStatus == .atEnd)
        input.close()
        output.close()
        #expect(input.streamStatus == .closed && output.streamStatus == .closed)
        #expect(bench.session.take() == [])
    }

    @Test("Streams on the main run loop call their delegates there", arguments: [RunLoop.Mode.default, .common])
    func mainLoop(mode: RunLoop.Mode) async throws {
        let channel = try await open()
        let listener = StreamListener { stream, _ in
            dispatchPrecondition(condition: .onQueue(.main))
            _ = (stream as? InputStream)?.readAll()
        }
        channel.inputStream.delegate = listener
        channel.inputStream.schedule(in: .main, forMode: mode)
        channel.inputStream.open()
        await listener.wait(for: 1)
        await tell(.received([1]))
        await listener.wait(for: 2)
        await tell(.received([2]))
        await tell(.closed(nil))
        await listener.wait(for: 4)
        #expect(listener.events == ["open", "bytes", "bytes", "end"])
    }

    @Test(
        "Streams on a thread's run loop call their delegates on that thread, in the current mode",
        arguments: [RunLoop.Mode.default, LoopThread.mode]
    )
    func threadLoop(mode: RunLoop.Mode) async throws {
        let channel = try await open(), thread = LoopThread()
        let wrong = Atomic<Int>(0)
        let listener = StreamListener { stream, event in
            if RunLoop.current !== thread.loop { wrong.add(1, ordering: .relaxed) }
            if event == .hasSpaceAvailable { _ = (stream as? OutputStream)?.write([1, 2, 3]) }
            if event == .errorOccurred { stream.close() }
        }
        for stream in [channel.inputStream, channel.outputStream] as [Stream] {
            stream.delegate = listener
            stream.schedule(in: thread.loop, forMode: mode)
            stream.open()
        }
        await tell(.sent(3))
        await tell(.received([1]))
        // Both open, one has octets, and the other room again and again.
        await listener.wait(for: 20)
        await tell(.closed(.hci(.connectionTimeout)))
        while channel.outputStream.streamStatus != .closed {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(channel.inputStream.streamStatus == .open)
        #expect(wrong.load(ordering: .relaxed) == 0)
        let events = listener.events
        #expect(events.filter { $0 == "open" }.count == 2)
        #expect(events.filter { $0 == "bytes" }.count == 1)
        #expect(events.last == "error")
        thread.stop()
    }

    @Test("Events before there was a delegate or run loop are delivered once there is")
    func late() async throws {
        let channel = try await open()
        let input = try #require(channel.inputStream)
        input.open()
        await tell(.received([1]))
        let listener = StreamListener()
        input.schedule(in: .main, forMode: .default)
        input.delegate = listener
        await listener.wait(for: 2)
        #expect(listener.events == ["open", "bytes"])
        input.delegate = nil
        _ = input.readAll()
        await tell(.received([2]))
        await MainActor.run {}
        #expect(listener.events.count == 2)
    }

    @Test("A stream that was removed from its run loop or closed calls no delegate")
    func removed() async throws {
        let channel = try await open()
        let (input, output) = (try #require(channel.inputStream), try #require(channel.outputStream))
        let listener = StreamListener()
        for stream in [input, output] as [Stream] {
            stream.delegate = listener
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
        await listener.wait(for: 3)
        input.remove(from: .main, forMode: .default)
        output.close()
        await tell(.received([1]))
        await tell(.closed(.poweredOff))
        await MainActor.run {}
        #expect(listener.events.sorted() == ["open", "open", "space"])
        input.schedule(in: .main, forMode: .default)
        await listener.wait(for: 4)
        #expect(listener.events.last == "bytes")
    }

    @Test("A reading thread waits for data, and a writing thread waits for space")
    func waiting() async throws {
        let channel = try await open()
        let (input, output) = (try #require(channel.inputStream), try #require(channel.outputStream))
        input.open()
        output.open()
        #expect(output.write([UInt8](repeating: 0, count: 100_000)) == 65_536)
        nonisolated(unsafe) let streams = (input, output)
        async let read = await onThread {
            var octets = [UInt8](repeating: 0, count: 9)
            return streams.0.read(&octets, maxLength: 9)
        }
        async let written = await onThread { streams.1.write([UInt8](repeating: 1, count: 9), maxLength: 9) }
        await tell(.received([1, 2, 3]))
        await tell(.sent(5))
        #expect(await read == 3)
        #expect(await written == 5)
        async let nothing = await onThread {
            var octets = [UInt8](repeating: 0, count: 9)
            return streams.0.read(&octets, maxLength: 9)
        }
        await tell(.closed(nil))
        #expect(await nothing == 0)
    }

    @Test("Streams never block the queue on which data arrives")
    func notWaiting() async throws {
        let queue = DispatchQueue(label: "app"), bench = CentralBench(queue: queue)
        let peripheral = await bench.connect()
        peripheral.openL2CAPChannel(0x80)
        await bench.tell(.channelOpened(SPSM(wire: 0x80), .success(ChannelRequestTests.opened)))
        let channel = try #require(bench.app.channels.first)
        channel.inputStream.open()
        channel.outputStream.open()
        queue.sync {
            var octets = [UInt8](repeating: 0, count: 100_000)
            #expect(channel.inputStream.read(&octets, maxLength: 9) == 0)
            #expect(channel.outputStream.write(octets, maxLength: octets.count) == 65_536)
            #expect(channel.outputStream.write(octets, maxLength: 1) == 0)
        }
    }

    @Test("Releasing a channel sends the written data, closes the channel and fails its streams")
    func letGo() async throws {
        var channel: CBL2CAPChannel? = try await open()
        let input = try #require(channel?.inputStream), output = try #require(channel?.outputStream)
        input.open()
        output.open()
        #expect(output.write([1, 2]) == 2)
        channel = nil
        bench.app.channels = []
        #expect(bench.session.take() == [.channel(id, .send([1, 2])), .channel(id, .close)])
        #expect(input.streamStatus == .error && output.streamStatus == .error)
        #expect((input.streamError as? CBError)?.code == .operationCancelled)
        await tell(.received([1]))
        #expect(!input.hasBytesAvailable)
    }

    @Test("A channel is closed once both streams are, even if the app retains it")
    func bothClosed() async throws {
        let channel = try await open()
        channel.inputStream.open()
        channel.inputStream.close()
        #expect(bench.session.take() == [])
        channel.outputStream.close()
        #expect(bench.session.take() == [.channel(id, .close)])
        bench.app.channels = []
        #expect(bench.session.take() == [])
    }

    @Test("Channels end with the radio, with the connection and with the manager")
    func ends() async throws {
        let channel = try await open()
        channel.inputStream.open()
        await bench.session.tell(.stateChanged(.poweredOff))
        #expect((channel.inputStream.streamError as? CBError)?.code == .notConnected)
        let other = ChannelStreamTests(), lost = try await other.open()
        lost.outputStream.open()
        await other.bench.session.tell(
            .disconnected(CentralBench.peer, .hci(.connectionTimeout), isReconnecting: false)
        )
        #expect((lost.outputStream.streamError as? CBError)?.code == .connectionTimeout)
        let orphan = try await ChannelStreamTests().open()
        orphan.outputStream.open()
        #expect((orphan.outputStream.streamError as? CBError)?.code == .operationCancelled)
    }

    @Test("Two threads that read and write while the host delivers data lose nothing")
    func threads() async throws {
        let channel = try await open()
        nonisolated(unsafe) let input = try #require(channel.inputStream)
        nonisolated(unsafe) let output = try #require(channel.outputStream)
        input.open()
        output.open()
        async let read = await onThread {
            var all: [UInt8] = [], piece = [UInt8](repeating: 0, count: 64)
            while true {
                let count = input.read(&piece, maxLength: 64)
                guard count > 0 else { return all }
                all += piece[..<count]
            }
        }
        async let written = await onThread {
            var total = 0
            while total < 200_000 {
                let octets = (total..<total + 1000).map { UInt8(truncatingIfNeeded: $0) }
                total += max(0, output.write(octets, maxLength: octets.count))
            }
            return total
        }
        let sent = (0..<200).map { number in [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100) }
        var heard: [UInt8] = [], consumed = 0
        for octets in sent {
            await tell(.received(octets))
            for case .channel(_, let request) in bench.session.take() {
                switch request {
                case .send(let unit):
                    heard += unit
                    await tell(.sent(unit.count))
                case .resize: break
                case .consumed(let count): consumed += count
                case .close: Issue.record("closed")
                }
            }
        }
        while heard.count < 200_000 {
            for case .channel(_, let request) in bench.session.take() {
                guard case .send(let unit) = request else { continue }
                heard += unit
                await tell(.sent(unit.count))
            }
            await Task.yield()
        }
        await tell(.closed(nil))
        #expect(await read == sent.flatMap { $0 })
        #expect(await written == heard.count)
        #expect(heard == (0..<heard.count).map { UInt8(truncatingIfNeeded: $0) })
    }
}

/// What `body` gives on a thread that nobody else waits for.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
