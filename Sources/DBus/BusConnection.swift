package import BLERuntime
import BLEWire
import Dispatch

/// The socket of a D-Bus connection, with its own thread.
///
/// ``BusConversation`` implements the protocol.
package final class BusConnection: Sendable {
    private let loop = EventLoop("ble-desktop")
    private let stream: SocketStream

    /// Connects to the first of several addresses that accepts a connection.
    ///
    /// - Parameters:
    ///   - places: The possible addresses of the bus, in the order to try them.
    ///   - receive: Called with received octets.
    ///   - ended: Called once when the connection ends, unless ``close()`` ended it.
    /// - Throws: The error for the last address if none accepts a connection.
    package init(
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

    private static func connect(to places: [SocketAddress]) throws(TransportError) -> FileDescriptor {
        var failure = TransportError(.unreachable, "no bus address to connect to")
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

    package func send(_ octets: [UInt8]) {
        loop.post { [stream] in stream.write(octets.span) }
    }

    /// Closes the connection.
    ///
    /// Pending octets are sent if the system accepts them without waiting.
    package func close() {
        loop.sync { [stream] in stream.close() }
    }
}
