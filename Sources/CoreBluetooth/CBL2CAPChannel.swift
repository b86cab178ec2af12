public import Foundation

/// A stream of octets in both directions over an L2CAP channel.
///
/// The streams are not open yet. Either set their delegates, schedule them on a run loop and open them, or open them
/// and poll them. Each has a limited buffer: a peer has to wait until the app reads, and an app's write is accepted in
/// part until the peer has received more.
///
/// The channel is closed when both streams are closed or this object is released; octets that were already written are
/// still sent. After the peer closes the channel, the input stream ends when all octets are read. After any other loss,
/// the streams fail with a ``CBError``.
///
/// The streams can be used on any thread. Reading without data and writing without space blocks. They return 0 instead
/// where blocking could never end: on the main thread and on queues of managers, which deliver the data, and in
/// simulated worlds in virtual time.
///
/// Threads may share a channel: it never changes, and a lock protects what its streams share. Foundation's type of a
/// stream is not `Sendable`, so hand over the channel and not its streams.
open class CBL2CAPChannel: NSObject, @unchecked Sendable {
    private let remote: CBPeer?
    private let conduit: ChannelConduit?
    private let input: ChannelInputStream?
    private let output: ChannelOutputStream?

    /// Creates a channel without streams, for subclasses in tests.
    public override init() {
        remote = nil
        conduit = nil
        input = nil
        output = nil
    }

    init(_ conduit: ChannelConduit, with peer: CBPeer) {
        remote = peer
        self.conduit = conduit
        input = ChannelInputStream(conduit)
        output = ChannelOutputStream(conduit)
    }

    deinit { conduit?.change { $0.release() } }

    /// The peer.
    open var peer: CBPeer! { remote }

    /// The octets that the peer sends.
    open var inputStream: InputStream! { input }

    /// The octets to send to the peer.
    open var outputStream: OutputStream! { output }

    /// The PSM of the service that the channel connects to.
    open var psm: CBL2CAPPSM { conduit?.psm ?? 0 }

    /// The number of octets that were written but not sent yet.
    package var unsent: Int { conduit?.look { $0.outstanding } ?? 0 }

    /// True if the channel is open at both ends.
    package var isOpen: Bool { conduit?.look { $0.isOpen } ?? false }

    /// The manager that created the channel; `nil` when it is released.
    package var manager: CBManager? { conduit?.reference.manager }

    /// The channel and its peer, for logs.
    open override var description: String {
        "<CBL2CAPChannel: \(address), peer = \(remote?.identifier.uuidString ?? "(null)"), PSM = \(psm)>"
    }
}
