public import Foundation

/// A stream of octets in both directions, beside the attributes.
///
/// The streams are not open yet: set their delegates, schedule them on a run loop and open them, or open them and ask
/// them what there is. Each holds so much and no more: a peer whose octets nobody reads is made to wait, and an app
/// that writes more than the peer takes is told how much was taken, and later that there is room again.
///
/// The channel is closed when both streams are, or when nobody keeps this object any more; what was written before that
/// is still sent. A channel that the peer closes is at its end, for the input stream when all is read; one that is lost
/// otherwise has failed, with a ``CBError``.
///
/// Streams may be used on any thread. Reading while there is nothing, and writing while there is no room, waits. It
/// returns 0 instead where waiting would be in vain: on the main thread and on queues of managers, which is where
/// octets come in, and in a simulated world whose time a test moves.
///
/// Threads may share a channel: it never changes, and a lock protects what its streams share. Foundation's type of a
/// stream is not `Sendable`, so hand over the channel and not its streams.
open class CBL2CAPChannel: NSObject, @unchecked Sendable {
    private let remote: CBPeer?
    private let conduit: ChannelConduit?
    private let input: ChannelInputStream?
    private let output: ChannelOutputStream?

    /// Creates a channel that leads nowhere and has no streams, for subclasses in tests.
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

    /// The device at the other end.
    open var peer: CBPeer! { remote }

    /// What the other end sends.
    open var inputStream: InputStream! { input }

    /// What is sent to the other end.
    open var outputStream: OutputStream! { output }

    /// The number of the service to which the channel leads.
    open var psm: CBL2CAPPSM { conduit?.psm ?? 0 }

    /// How many octets were written that have not gone out.
    package var unsent: Int { conduit?.look { $0.outstanding } ?? 0 }

    /// Whether neither end has closed the channel, and it was not lost.
    package var isOpen: Bool { conduit?.look { $0.isOpen } ?? false }

    /// Who made the channel, as long as that is there.
    package var manager: CBManager? { conduit?.reference.manager }

    /// The channel and who is at its other end, for logs.
    open override var description: String {
        "<CBL2CAPChannel: \(address), peer = \(remote?.identifier.uuidString ?? "(null)"), PSM = \(psm)>"
    }
}
