import BLERuntime
import BLEWire
import Dispatch

/// The socket of a connection to a D-Bus, with a thread of its own; what is said there is somebody else's.
final class BusConnection: Sendable {
    private let loop = EventLoop("ble-desktop")
    private let stream: SocketStream

    /// Connects to the first of these places at which somebody listens.
    ///
    /// - Parameters:
    ///   - places: Where a bus may be, in the order in which to try.
    ///   - receive: Hears of what has come.
    ///   - ended: Called once when the connection ends, unless ``close()`` ended it.
    /// - Throws: What is wrong with the last place if nobody listens at any.
    init(
        to places: [SocketAddress],
        receive: @escaping @MainActor ([UInt8]) -> Void,
        ended: @escaping @MainActor (TransportError) -> Void
    ) throws(TransportError) {
        stream = SocketStream(try Self.connect(to: places), on: loop)
        loop.start()
        loop.post { [stream] in
            stream.start { (chunk) throws(TransportError) in
                let octets = [UInt8](copying: chunk)
                DispatchQueue.main.async { MainActor.assumeIsolated { receive(octets) } }
            } closed: { error in
                DispatchQueue.main.async { MainActor.assumeIsolated { ended(error) } }
            }
        }
    }

    private static func connect(to places: [SocketAddress]) throws(TransportError) -> Descriptor {
        var failure = TransportError(.unreachable, "there is no place to connect to")
        for place in places {
            do throws(TransportError) {
                return try place.connect()
            } catch {
                failure = error
                failure.context = "\(place)"
            }
        }
        throw failure
    }

    func send(_ octets: [UInt8]) {
        loop.post { [stream] in stream.write(octets.span) }
    }

    /// Ends the connection after what was sent, as far as the system takes that.
    func close() {
        loop.sync { [stream] in stream.close() }
    }
}
