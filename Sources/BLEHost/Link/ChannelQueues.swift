import BLEWire

/// The queues of one link's channels.
///
/// Each queue keeps its order, and channels take turns.
///
/// Signals go first: there are few of them, and their contents, such as the opening of a channel, must arrive before
/// data on that channel.
struct ChannelQueues<Element> {
    private struct ChannelQueue {
        let channel: ChannelIdentifier
        var elements = Fifo<Element>()
    }

    /// The queues, in ascending order of channel identifier, so those of fixed channels come before those of dynamic
    /// ones.
    private var queues: [ChannelQueue] = []
    private var waiting = 0
    private var turn = ChannelIdentifier.none

    var isEmpty: Bool { waiting == 0 }
    var count: Int { waiting }

    func count(on channel: ChannelIdentifier) -> Int { index(of: channel).map { queues[$0].elements.count } ?? 0 }

    mutating func append(_ element: Element, on channel: ChannelIdentifier) {
        waiting += 1
        if let index = index(of: channel) { return queues[index].elements.append(element) }
        var queue = ChannelQueue(channel: channel)
        queue.elements.append(element)
        queues.insert(queue, at: queues.firstIndex { $0.channel > channel } ?? queues.endIndex)
    }

    /// Removes and returns the next element; `nil` if there is none.
    mutating func next() -> Element? {
        guard waiting > 0, let index = nextInTurn() else { return nil }
        waiting -= 1
        if queues[index].channel != .leSignaling { turn = queues[index].channel }
        return queues[index].elements.popFirst()
    }

    /// Drops all elements of a channel.
    mutating func remove(_ channel: ChannelIdentifier) {
        guard let index = index(of: channel) else { return }
        waiting -= queues.remove(at: index).elements.count
    }

    private func nextInTurn() -> Int? {
        if let signals = index(of: .leSignaling), !queues[signals].elements.isEmpty { return signals }
        let first = queues.firstIndex { $0.channel > turn } ?? 0
        for step in queues.indices {
            let index = (first + step) % queues.count
            if !queues[index].elements.isEmpty { return index }
        }
        return nil
    }

    private func index(of channel: ChannelIdentifier) -> Int? { queues.firstIndex { $0.channel == channel } }
}
