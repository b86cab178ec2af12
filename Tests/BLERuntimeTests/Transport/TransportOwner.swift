import BLERuntime

/// A client of a transport that writes down what it hears.
final class TransportOwner: TransportClient {
    enum Event: Equatable {
        case opened
        case closed(TransportError.Code)
        case absent(TransportError.Code)
        case packet([UInt8])
    }

    private let transport: any Transport
    private let loop = EventLoop("test-host")
    private let framer = Locked(H4Framer(from: .controller))
    private let octets = Locked(0)
    private let failure = Locked<TransportError?>(nil)
    private let events: AsyncStream<Event>
    private let sink: AsyncStream<Event>.Continuation

    convenience init(to address: SocketAddress) { self.init(SocketTransport(to: address)) }

    init(_ transport: any Transport) {
        self.transport = transport
        (events, sink) = AsyncStream.makeStream()
        loop.start()
        loop.post { [self] in transport.start(for: self, on: loop) }
    }

    /// The next thing that happens.
    func next() async -> Event? { await events.first { _ in true } }

    /// The next thing that happens, if it is a packet.
    func packet() async -> [UInt8]? {
        guard case .packet(let packet) = await next() else { return nil }
        return packet
    }

    /// Why the connection was lost, or there is none, as it was said last.
    var lastFailure: TransportError? { failure.withLock { $0 } }

    /// How many octets have arrived.
    var octetsReceived: Int { octets.withLock { $0 } }

    func send(_ packets: [UInt8]) { loop.post { [transport] in transport.send(packets.span) } }
    func pause() { loop.post { [transport] in transport.pause() } }
    func resume() { loop.post { [transport] in transport.resume() } }
    func reset() { loop.post { [transport] in transport.reset() } }
    func stop() { loop.post { [transport] in transport.stop() } }

    /// Stops, and returns when that is done.
    func stopped() async {
        await withCheckedContinuation { done in
            loop.post { [transport] in
                transport.stop()
                done.resume()
            }
        }
    }

    func transportOpened() {
        framer.withLock { $0.reset() }
        sink.yield(.opened)
    }

    func transportClosed(_ error: TransportError) {
        failure.withLock { $0 = error }
        sink.yield(.closed(error.code))
    }

    func transportAbsent(_ error: TransportError) {
        failure.withLock { $0 = error }
        sink.yield(.absent(error.code))
    }

    func transportReceived(_ chunk: Span<UInt8>) throws(TransportError) {
        octets.withLock { $0 += chunk.count }
        var framer = framer.withLock { $0 }
        defer { self.framer.withLock { $0 = framer } }
        try framer.receive(chunk) { packet in
            sink.yield(.packet(packet.withUnsafeBufferPointer { Array($0) }))
        }
    }
}
