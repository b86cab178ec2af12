import Foundation

/// The implementation that a channel's input and output streams share.
struct StreamImplementation {
    let channelState: ChannelState
    private let side: ChannelFlow.Side

    /// Creates the implementation of `stream`, and attaches the stream to its side of the channel.
    init(_ side: ChannelFlow.Side, of channelState: ChannelState, as stream: Stream) {
        self.side = side
        self.channelState = channelState
        channelState.events.attach(stream, as: side)
    }

    var status: Stream.Status { channelState.withFlow { $0.status(of: side) } }
    var error: (any Error)? { channelState.withFlow { $0.error(of: side) } }

    var delegate: (any StreamDelegate)? {
        get { channelState.events.delegate(of: side) }
        nonmutating set { channelState.events.setDelegate(newValue, of: side) }
    }

    func open() {
        channelState.change {
            $0.open(side)
            return []
        }
    }

    func close() {
        channelState.events.removeAll(side)
        channelState.change { $0.close(side) }
    }

    func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) { channelState.events.schedule(side, in: loop, mode) }
    func remove(from loop: RunLoop, _ mode: RunLoop.Mode) { channelState.events.remove(side, from: loop, mode) }
}
