import BLEHost
import BLEWire

// The bearers that the host itself requests.
extension ChannelOracle {
    /// A request from the host to open bearers.
    struct Opening {
        let identifier: SignalIdentifier
        let locals: [ChannelIdentifier]
    }

    /// The maximum number of times that a host requests bearers from a peer that does not open them.
    static let mostOpenings = 3

    /// Records a request from the host to open bearers; returns false if the request is not allowed.
    mutating func asks(_ request: Signal.CreditBasedConnectionRequest, _ identifier: SignalIdentifier)
        -> Bool
    {
        defer {
            openings.append(Opening(identifier: identifier, locals: request.sources))
            openingCount += 1
        }
        let areFree = request.sources.enumerated().allSatisfy { position, source in
            0x0040...0x007F ~= source.wire && !request.sources[..<position].contains(source)
                && !channels.contains { $0.local == source }
        }
        let hasBearers = channels.contains { $0.isBearer && !$0.isClosing }
        return areFree && !hasBearers && openings.isEmpty && openingCount < Self.mostOpenings
            && request.spsm == .enhancedATT && request.mtu >= 64 && request.mps >= 64
            && request.credits > 0
    }

    /// Predicts the reaction of the host to the peer's response to a request for bearers.
    ///
    /// If the peer uses one identifier for two channels, both channels are unusable.
    mutating func opened(
        _ response: Signal.CreditBasedConnectionResponse,
        _ identifier: SignalIdentifier
    ) -> Reaction {
        let pending: [Signal.ConnectionResult] = [
            .pending, .authenticationPending, .authorizationPending,
        ]
        guard let position = openings.firstIndex(where: { $0.identifier == identifier }),
            !pending.contains(response.result)
        else { return Reaction() }
        var reaction = Reaction()
        for (local, remote) in zip(openings.remove(at: position).locals, response.destinations)
        where 0x0040...0x007F ~= remote.wire {
            if let other = channels.firstIndex(where: { $0.remote == remote }) {
                reaction.add(gone(channels.remove(at: other)))
                continue
            }
            var channel = self.channel(remote, true, response.mtu, response.mps, response.credits)
            (channel.local, channel.isBearer) = (local, true)
            if response.mtu < 64 || response.mps < 64 || response.mps > 65533 {
                channel.isClosing = true
                reaction.answers.append(.closing(destination: remote, source: local))
            } else {
                attributes?.opened(local)
            }
            channels.append(channel)
        }
        return reaction
    }

    /// Predicts the reaction of the host to an ATT packet on a bearer.
    mutating func predictAttribute(_ packet: [UInt8], on name: ChannelIdentifier) -> Reaction {
        carryOut(attributes?.receive(packet, on: name) ?? [])
    }

    /// Returns the packets that the host sends and the events that it reports to its app when it carries out `effects`.
    mutating func carryOut(_ effects: [AttributeOracle.Effect]) -> Reaction {
        var reaction = Reaction()
        for effect in effects {
            switch effect {
            case .send(let packet, .attribute):
                reaction.frames.append(Frame(channel: .attribute, payload: packet))
            case .send(let packet, let bearer): reaction.add(send(packet, on: bearer))
            case .askToRead: reaction.events.append(.askedToRead)
            case .askToWrite(let parts): reaction.events.append(.askedToWrite(parts))
            }
        }
        return reaction
    }

    /// Predicts the reaction of the host to the end of a channel: a report to the app or, for a bearer, the transfer of
    /// its indications to the unenhanced bearer.
    ///
    /// There is no reaction if the host has already requested to close the channel. `failure` is the error in the
    /// report; `nil` if there is none.
    mutating func gone(_ channel: Channel, _ failure: Failure? = nil) -> Reaction {
        if channel.isClosing { return Reaction() }
        guard channel.isBearer else { return Reaction(events: [.closed(channel.local, failure)]) }
        return carryOut(attributes?.closed(channel.local) ?? [])
    }

    /// Records an ATT request that the host sends on a bearer; returns false if the request is not allowed.
    mutating func ask(_ packet: [UInt8], on name: ChannelIdentifier) -> Bool {
        guard name != .attribute else { return attributes?.ask(packet, on: name) == true }
        guard let index = channels.firstIndex(where: { $0.local == name }), channels[index].granted > 0
        else {
            return false
        }
        channels[index].granted -= 1
        return attributes?.ask(packet, on: name) == true
    }

    /// If a bearer has no credits, records that the host's next request may have to wait.
    mutating func noteCredits() {
        if channels.contains(where: { $0.isBearer && !$0.isClosing && $0.granted == 0 }) {
            attributes?.cannotPredictApp = true
        }
    }
}

extension ChannelOracle.Reaction {
    mutating func add(_ other: Self) {
        answers += other.answers
        frames += other.frames
        events += other.events
    }
}
