import Foundation

/// One of a channel's two streams: the implementation that both stream classes share.
struct ChannelEnd {
    let conduit: ChannelConduit
    private let side: ChannelFlow.Side

    /// Creates the implementation of `stream`, and attaches the stream to its side of the channel.
    init(_ side: ChannelFlow.Side, of conduit: ChannelConduit, as stream: Stream) {
        self.side = side
        self.conduit = conduit
        conduit.events.attach(stream, as: side)
    }

    var status: Stream.Status { conduit.withFlow { $0.status(of: side) } }
    var error: (any Error)? { conduit.withFlow { $0.error(of: side) } }

    var delegate: (any StreamDelegate)? {
        get { conduit.events.delegate(of: side) }
        nonmutating set { conduit.events.setDelegate(newValue, of: side) }
    }

    func open() {
        conduit.change {
            $0.open(side)
            return []
        }
    }

    func close() {
        conduit.events.removeAll(side)
        conduit.change { $0.close(side) }
    }

    func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) { conduit.events.schedule(side, in: loop, mode) }
    func remove(from loop: RunLoop, _ mode: RunLoop.Mode) { conduit.events.remove(side, from: loop, mode) }
}
