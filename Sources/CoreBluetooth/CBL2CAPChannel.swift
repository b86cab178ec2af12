public import Foundation

/// A stream of octets in both directions over an L2CAP channel.
///
/// The app receives the streams unopened, and opens them. If the app sets the streams' delegates and schedules the
/// streams on a run loop, the delegates are called for the streams' events; otherwise, the app polls the streams. Each
/// stream has a limited buffer: if the app does not read, the peer has to wait, and if the peer does not keep up, a
/// write accepts only a part of the data.
///
/// The channel is closed when both streams are closed or this object is released; octets that were already written are
/// still sent. If the peer closes the channel, the input stream ends once all octets have been read. If the channel is
/// lost for any other reason, the streams fail with a ``CBError``.
///
/// The streams can be used on any thread. A read blocks until there is data, and a write until there is space. There
/// are two exceptions, in which a read or write returns 0 instead, because it could block forever: on the main thread
/// and the queues of managers, which deliver the data, and in simulated worlds that run in virtual time.
///
/// Threads may share a channel: it never changes, and a lock protects the state of its streams. Foundation's stream
/// types are not `Sendable`, so pass the channel from thread to thread rather than its streams.
open class CBL2CAPChannel: NSObject, @unchecked Sendable {
    private let remote: CBPeer?
    private let channelState: ChannelState?
    private let input: ChannelInputStream?
    private let output: ChannelOutputStream?

    /// Creates a channel without streams, for subclasses in tests.
    public override init() {
        remote = nil
        channelState = nil
        input = nil
        output = nil
    }

    init(_ channelState: ChannelState, with peer: CBPeer) {
        remote = peer
        self.channelState = channelState
        input = ChannelInputStream(channelState)
        output = ChannelOutputStream(channelState)
    }

    deinit { channelState?.change { $0.release() } }

    /// The device at the other end of the channel.
    open var peer: CBPeer! { remote }

    /// The stream from which the app reads the octets that the peer sends.
    open var inputStream: InputStream! { input }

    /// The stream to which the app writes the octets to send to the peer.
    open var outputStream: OutputStream! { output }

    /// The PSM of the service that the channel connects to.
    open var psm: CBL2CAPPSM { channelState?.psm ?? 0 }

    /// The number of octets that the app has written and the host has not sent yet.
    package var unsent: Int { channelState?.withFlow { $0.outstanding } ?? 0 }

    /// True if the channel is open at both ends.
    package var isOpen: Bool { channelState?.withFlow { $0.isOpen } ?? false }

    /// The manager that created the channel; `nil` after the manager has been released.
    package var manager: CBManager? { channelState?.reference.manager }

    /// The channel and its peer, for logs.
    open override var description: String {
        "<CBL2CAPChannel: \(address), peer = \(remote?.identifier.uuidString ?? "(null)"), PSM = \(psm)>"
    }
}
