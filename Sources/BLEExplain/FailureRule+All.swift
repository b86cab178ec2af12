import BLEWire

extension FailureRule {
    /// All rules, in order of precedence: the first one that applies to an event explains it.
    package static let all: [FailureRule] = [
        linkLost, notEstablished, peerEnded, brokenCipher, linkEnded, keyMissing, pairingFailed, refused, unanswered,
        deviceMissing,
        radioUnavailable, callFailed, unansweredCall,
    ]

    /// A link that ended because no packet arrived within its supervision timeout.
    static let linkLost = FailureRule(name: "link lost") { timeline, index, limit in
        guard case .disconnected(let link, .connectionTimeout) = timeline.events[index].fact else { return nil }
        let time = timeline.clock(timeline.events[index])
        let text =
            "The link\(owner(timeline, index)) was lost at \(time): no packet arrived within the supervision timeout."
        return [sentence(text, index)] + lostPackets(timeline, index, limit) + waiting(timeline, index, link, limit)
    }

    /// A link that was never established, or that the controller could not create.
    static let notEstablished = FailureRule(name: "not established") { timeline, index, limit in
        switch timeline.events[index].fact {
        case .connectionFailed(.connectionFailedToBeEstablished): break
        case .disconnected(let link, .connectionFailedToBeEstablished):
            guard !connectsAgain(timeline, index, link, limit) else { return nil }
        case .connectionFailed(let status): return [sentence("The controller could not connect: \(status).", index)]
        default: return nil
        }
        return [
            sentence("The link was not established: no packet arrived within six connection intervals.", index),
            sentence("The devices were probably out of range, or another central connected first.", nil),
        ]
    }

    /// Returns true if the host later connects again to the peer of a link that was never established.
    private static func connectsAgain(_ timeline: Timeline, _ index: Int, _ link: UInt16, _ limit: WalkLimit) -> Bool {
        let source = timeline.events[index].source
        var peer: String?
        for place in limit.walk((0..<index).reversed()) where timeline.events[place].source == source {
            guard case .connected(link, let address, _) = timeline.events[place].fact else { continue }
            peer = address
            break
        }
        return limit.walk((index + 1)..<timeline.events.count).contains { place in
            guard timeline.events[place].source == source,
                case .connected(_, let address, _) = timeline.events[place].fact
            else { return false }
            return address == peer
        }
    }

    /// A link that the peer ended unexpectedly.
    ///
    /// An end is unexpected if a request was outstanding, if the app got an error, or if the peer had low resources or
    /// was switched off.
    static let peerEnded = FailureRule(name: "peer ended the link") { timeline, index, limit in
        guard case .disconnected(let link, let reason) = timeline.events[index].fact,
            [.remoteUserTerminatedConnection, .remoteDeviceLowResources, .remoteDevicePowerOff].contains(reason)
        else { return nil }
        let open = waiting(timeline, index, link, limit)
        guard !open.isEmpty || reason != .remoteUserTerminatedConnection || hasError(timeline, after: index, limit)
        else {
            return nil
        }
        let time = timeline.clock(timeline.events[index])
        return [sentence("The peer ended the link\(owner(timeline, index)) at \(time): \(reason).", index)] + open
    }

    /// A link whose ends have different keys.
    static let brokenCipher = FailureRule(name: "different keys") { timeline, index, _ in
        guard case .disconnected(_, .micFailure) = timeline.events[index].fact else { return nil }
        return [
            sentence("A packet failed its integrity check (MIC): the two devices encrypt with different keys.", index)
        ]
    }

    /// A link that ended abnormally, for a reason that no earlier rule explains.
    static let linkEnded = FailureRule(name: "link ended") { timeline, index, limit in
        guard case .disconnected(let link, let reason) = timeline.events[index].fact,
            ![.connectionTerminatedByLocalHost, .remoteUserTerminatedConnection, .connectionFailedToBeEstablished]
                .contains(reason)
        else { return nil }
        return [
            sentence(
                "The link\(owner(timeline, index)) ended at \(timeline.clock(timeline.events[index])): \(reason).",
                index
            )
        ]
            + waiting(timeline, index, link, limit)
    }

    /// Encryption that failed, for example because the peer no longer has the key.
    static let keyMissing = FailureRule(name: "key missing") { timeline, index, _ in
        guard case .encryption(_, let status) = timeline.events[index].fact, status != .success else { return nil }
        return status == .pinOrKeyMissing
            ? [
                sentence("The link was not encrypted: the peer no longer has the key of the bond.", index),
                sentence("Remove this host's bond with the peer, and pair again.", nil),
            ] : [sentence("The link was not encrypted: \(status).", index)]
    }

    /// A pairing that failed.
    static let pairingFailed = FailureRule(name: "pairing failed") { timeline, index, limit in
        guard case .pairingFailed(let reason, let isFromHost) = timeline.events[index].fact else { return nil }
        guard !isFromHost || !isReceivedElsewhere(timeline, index, .pairingFailed(reason, isFromHost: false), limit)
        else { return nil }
        let start = limit.walk((0..<index).reversed()).first {
            timeline.events[$0].fact == .pairingStarted
                && timeline.events[$0].source == timeline.events[index].source
        }
        let side = isFromHost ? "This host" : "The peer"
        let text = "\(side) ended the pairing: \(SMP.Reason(wire: reason))."
        return [sentence(text, index)]
            + (start.map { [sentence("The pairing began at \(timeline.clock(timeline.events[$0])).", $0)] } ?? [])
    }

    /// A request that the server refused.
    static let refused = FailureRule(name: "request refused") { timeline, index, limit in
        guard case .refusal(let opcode, let handle, let code, let link, let isFromHost) = timeline.events[index].fact,
            !isExpected(opcode, handle, code)
        else { return nil }
        let event = timeline.events[index]
        guard !succeedsLater(timeline, index, limit) else { return nil }
        if isFromHost {
            // The client's own recording also has the app's call, so the finding belongs there.
            let received = Timeline.Fact.refusal(of: opcode, handle: handle, code, link: link, isFromHost: false)
            guard !isReceivedElsewhere(timeline, index, received, limit) else { return nil }
        }
        let server = isFromHost ? "This host" : "The server"
        var sentences = [sentence("\(server) refused a request at \(timeline.clock(event)) (\(event.detail)).", index)]
        let request = limit.walk((0..<index).reversed()).first {
            timeline.events[$0].group == event.group && timeline.events[$0].track == .attribute
        }
        if let request {
            let words = "\(timeline.events[request].title) \(timeline.events[request].detail)"
            sentences.append(sentence("The request was: \(words).", request))
        }
        guard code.isLackOfSecurity else { return sentences }
        let isEncrypted = limit.walk(0..<index).contains {
            timeline.events[$0].source == event.source
                && timeline.events[$0].fact == .encryption(link: link, .success)
        }
        return sentences + [sentence(code.lack(isEncrypted: isEncrypted), nil)]
    }

    /// Returns true for refusals with which servers normally say that there is nothing more to find, or that they lack
    /// a feature.
    private static func isExpected(_ opcode: ATT.Opcode, _ handle: UInt16, _ code: ATT.ErrorCode) -> Bool {
        switch code {
        case .attributeNotFound: opcode.isSearch || handle == 0
        case .attributeNotLong, .invalidOffset: opcode == .readBlobRequest
        case .requestNotSupported: ![.readRequest, .writeRequest].contains(opcode)
        default: false
        }
    }

    /// Returns true if a refused request succeeds in the end.
    ///
    /// This is the case if the app's call succeeds, or if the request was refused for lack of security and the same
    /// request succeeds later.
    private static func succeedsLater(_ timeline: Timeline, _ index: Int, _ limit: WalkLimit) -> Bool {
        guard case .refusal(let opcode, let handle, let code, let link, let isFromHost) = timeline.events[index].fact
        else { return false }
        let event = timeline.events[index]
        var isRepeated = false
        for place in limit.walk((index + 1)..<timeline.events.count)
        where timeline.events[place].source == event.source {
            switch timeline.events[place].fact {
            case .callback(_, _, _, let error) where event.group != 0 && timeline.events[place].group == event.group:
                return error == nil
            case .request(opcode, handle, link, !isFromHost): isRepeated = code.isLackOfSecurity
            case .response(link, isFromHost) where isRepeated: return true
            case .refusal(_, _, _, link, isFromHost): isRepeated = false
            case .disconnected(link, _), .reset: return false
            default: continue
            }
        }
        return false
    }

    /// Returns true if another source records `fact` within a second after the event at `index`.
    private static func isReceivedElsewhere(
        _ timeline: Timeline,
        _ index: Int,
        _ fact: Timeline.Fact,
        _ limit: WalkLimit
    ) -> Bool {
        let event = timeline.events[index]
        for place in limit.walk((index + 1)..<timeline.events.count) {
            let later = timeline.events[place]
            if later.time &- event.time > 1_000_000_000 { return false }
            if later.source != event.source, later.fact.isSame(as: fact) { return true }
        }
        return false
    }

    /// A request that got no answer within 30 s.
    static let unanswered = FailureRule(name: "request without answer") { timeline, index, limit in
        guard case .request(let opcode, _, let link, let isFromHost) = timeline.events[index].fact else { return nil }
        let event = timeline.events[index], patience: Int64 = 30_000_000_000
        for place in limit.walk((index + 1)..<timeline.events.count)
        where timeline.events[place].source == event.source {
            let later = timeline.events[place]
            if later.time &- event.time >= patience { break }
            switch later.fact {
            case .response(link, !isFromHost), .refusal(_, _, _, link, !isFromHost), .disconnected(link, _), .reset:
                return nil
            default: continue
            }
        }
        guard let end = timeline.end ?? timeline.events.last?.time, end &- event.time >= patience else { return nil }
        return [
            sentence("The \(opcode) at \(timeline.clock(event)) had no response within 30 s: \(event.detail).", index),
            sentence("The link was up; the \(isFromHost ? "peer" : "host") did not answer.", nil),
        ]
    }

    /// A scan that found nothing, or a connection that was not established.
    ///
    /// The recording must continue for at least 5 s after the call. A scan or connection attempt that the app ended
    /// does not count.
    static let deviceMissing = FailureRule(name: "device missing") { timeline, index, limit in
        guard case .call(let step, let words, let client) = timeline.events[index].fact,
            step == "scanForPeripherals" || step == "connect", let end = timeline.end ?? timeline.events.last?.time,
            end &- timeline.events[index].time >= 5_000_000_000
        else { return nil }
        let event = timeline.events[index], others = (index + 1)..<timeline.events.count
        if step == "scanForPeripherals" {
            for place in limit.walk(others) where timeline.events[place].source == event.source {
                switch timeline.events[place].fact {
                case .advertisement, .callback("didDiscover", _, client, _), .call("stopScan", _, client): return nil
                default: continue
                }
            }
            return [sentence("The scan at \(timeline.clock(event)) found nothing: no advertisement arrived.", index)]
        }
        let isAnswered = limit.walk(others).contains { place in
            guard timeline.events[place].source == event.source else { return false }
            return switch timeline.events[place].fact {
            case .callback("didConnect", let other, client, _), .callback("didFailToConnect", let other, client, _),
                .callback("didDisconnect", let other, client, _),
                .call("cancelPeripheralConnection", let other, client):
                Relations.match(step, words, other)
            default: false
            }
        }
        guard !isAnswered else { return nil }
        return [
            sentence(
                "The app requested a connection at \(timeline.clock(event)) (\(words)), but it was not established.",
                index
            ),
            reach(timeline, index, limit),
        ]
    }

    /// Returns a sentence that says why a connection was not made.
    private static func reach(_ timeline: Timeline, _ index: Int, _ limit: WalkLimit) -> FailureFinding.Sentence {
        let attempts = limit.walk((index + 1)..<timeline.events.count).filter { place in
            guard timeline.events[place].source == timeline.events[index].source,
                case .disconnected(_, .connectionFailedToBeEstablished) = timeline.events[place].fact
            else { return false }
            return true
        }
        guard let last = attempts.last else {
            let text = "The device was not reachable before the recording ended; Core Bluetooth keeps waiting."
            return sentence(text, nil)
        }
        let requests = attempts.count == 1 ? "a connection request" : "\(attempts.count) connection requests"
        return sentence("The device did not answer \(requests).", last)
    }

    /// A radio that is off, missing or restarting, or that the app may not use.
    static let radioUnavailable = FailureRule(name: "radio unavailable") { timeline, index, _ in
        guard case .callback("didUpdateState", let state, _, _) = timeline.events[index].fact else { return nil }
        let reasons = [
            "poweredOff": "Bluetooth was switched off", "unauthorized": "the app is not allowed to use Bluetooth",
            "unsupported": "no usable controller was found", "resetting": "the controller was restarted",
        ]
        guard let reason = reasons[state] else { return nil }
        let time = timeline.clock(timeline.events[index])
        return [sentence("From \(time) on, the app had no radio: \(reason). Connections and requests ended.", index)]
    }

    /// A callback with an error that no packet explains.
    static let callFailed = FailureRule(name: "call failed") { timeline, index, limit in
        let event = timeline.events[index]
        guard case .callback(let step, _, _, let error?) = event.fact else { return nil }
        // A failure of a link, a request, a pairing or the radio just before has a finding of its own.
        for place in limit.walk((0..<index).reversed()) where timeline.events[place].source == event.source {
            let earlier = timeline.events[place]
            if event.time &- earlier.time > 1_000_000 { break }
            switch earlier.fact {
            case .disconnected, .connectionFailed, .refusal, .encryption, .pairingFailed: return nil
            case .callback("didUpdateState", let state, _, _) where state != "poweredOn": return nil
            default: continue
            }
        }
        let what = step == "failed" ? "A command failed" : "\(step) reported an error", time = timeline.clock(event)
        return [sentence("\(what) at \(time): \(error.hasSuffix(".") ? "\(error.dropLast())" : error).", index)]
    }

    /// A call that got no callback, although the recording continues for at least 35 s after the call.
    static let unansweredCall = FailureRule(name: "call without callback") { timeline, index, limit in
        // `connect` has a rule of its own, and `cancelPeripheralConnection` has no callback if there is no connection.
        guard case .call(let step, let words, let client) = timeline.events[index].fact, step != "connect",
            step != "cancelPeripheralConnection",
            Relations.expectsAnswer(step, words), let end = timeline.end ?? timeline.events.last?.time,
            end &- timeline.events[index].time >= 35_000_000_000
        else { return nil }
        let isAnswered = limit.walk((index + 1)..<timeline.events.count).contains { place in
            guard timeline.events[place].source == timeline.events[index].source,
                case .callback(let answer, let other, client, _) = timeline.events[place].fact
            else { return false }
            return Relations.answers(answer, step) && Relations.match(step, words, other) || answer == "didDisconnect"
                || answer == "didUpdateState"
        }
        guard !isAnswered else { return nil }
        return [
            sentence(
                "\(step) (\(words)) at \(timeline.clock(timeline.events[index])) was not followed by a callback.",
                index
            )
        ]
    }

    static func sentence(_ text: String, _ event: Int?) -> FailureFinding.Sentence {
        .init(text: text, event: event)
    }

    /// Returns words that name the source of an event; empty if there is only one source.
    private static func owner(_ timeline: Timeline, _ index: Int) -> String {
        timeline.sources.count > 1 ? " of \(timeline.sources[timeline.events[index].source])" : ""
    }

    /// Returns a sentence about the host's request that was outstanding when a link ended, if there was one.
    static func waiting(
        _ timeline: Timeline,
        _ index: Int,
        _ link: UInt16,
        _ limit: WalkLimit
    ) -> [FailureFinding.Sentence] {
        let source = timeline.events[index].source
        for place in limit.walk((0..<index).reversed()) where timeline.events[place].source == source {
            switch timeline.events[place].fact {
            case .request(let opcode, _, link, true):
                return [
                    sentence("The \(opcode) was waiting for its response: \(timeline.events[place].detail).", place)
                ]
            case .response(link, false), .refusal(_, _, _, link, false), .connected(link, _, _): return []
            default: continue
            }
        }
        return []
    }

    /// Returns true if the app's `didDisconnect` follows within 1 ms with an error.
    private static func hasError(_ timeline: Timeline, after index: Int, _ limit: WalkLimit) -> Bool {
        let event = timeline.events[index]
        for place in limit.walk(index..<timeline.events.count) {
            let later = timeline.events[place]
            if later.time &- event.time > 1_000_000 { return false }
            if case .callback("didDisconnect", _, _, _?) = later.fact, later.source == event.source { return true }
        }
        return false
    }
}

extension Timeline.Fact {
    /// Returns true if both facts are the same.
    ///
    /// The links of refusals are not compared, because the two ends of a link have different handles for it.
    fileprivate func isSame(as other: Self) -> Bool {
        guard case .refusal(let opcode, let handle, let code, _, let isFromHost) = self,
            case .refusal(_, _, _, let link, _) = other
        else { return self == other }
        return other == .refusal(of: opcode, handle: handle, code, link: link, isFromHost: isFromHost)
    }
}

extension Timeline {
    /// Returns the time of an event in seconds, as the page shows it.
    func clock(_ event: Event) -> String {
        let start = isWorld ? 0 : events.first?.time ?? 0
        let milliseconds = (event.time &- start) / 1_000_000
        let rest = String(milliseconds % 1_000)
        return "\(milliseconds / 1_000)." + String(repeating: "0", count: max(0, 3 - rest.count)) + rest + " s"
    }
}
