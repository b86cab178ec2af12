import BLEHost
import BLEWire
import DBus

/// One write by a remote device, or the question whether to accept it.
struct ApplicationWrite: Sendable {
    let part: WritePart
    /// True if the program only accepts or refuses the write.
    var isQuestion = false
}

/// A group of writes by a remote device, which are passed to the program one after the other.
struct ApplicationWrites: Sendable {
    /// The writes that the program has not accepted yet.
    var rest: [ApplicationWrite]
    /// `nil` for a write command, which is not answered.
    let transaction: ServerTransaction?
    let central: RemoteCentral
    let key: BlueZBridge.SessionKey
}

// The writes of remote devices to the characteristics and descriptors that programs export.
extension BlueZBridge {
    /// Passes a group of writes by a remote device to the program.
    mutating func writeRequested(
        _ transaction: ServerTransaction?,
        _ central: RemoteCentral,
        _ group: WriteGroup,
        _ key: SessionKey
    ) {
        let rest = questions(about: group, central.peer, key) + Self.joined(group).map { ApplicationWrite(part: $0) }
        write(ApplicationWrites(rest: rest, transaction: transaction, central: central, key: key))
    }

    /// Joins the parts of long values, because many programs ignore the offset of a write.
    private static func joined(_ group: WriteGroup) -> [WritePart] {
        var result: [WritePart] = []
        for part in group {
            if let last = result.last, last.attribute == part.attribute, last.offset + last.value.count == part.offset {
                result[result.count - 1].value += part.value
            } else {
                result.append(part)
            }
        }
        return result
    }

    /// Returns the questions to ask before prepared writes by a device that neither the program's user nor an
    /// administrator trusts: one for each value with the flag `authorize`.
    ///
    /// BlueZ asks when the device prepares the write, and asks nothing about other writes. A group of one part from the
    /// beginning of the value is not distinguished from a Write Request.
    private func questions(
        about group: WriteGroup,
        _ peer: PeerIdentifier,
        _ key: SessionKey
    ) -> [ApplicationWrite] {
        guard group.count > 1 || group.first?.offset != 0 else { return [] }
        if let device = devices[peer], isTrusted(device, by: key.client) { return [] }
        var questions: [ApplicationWrite] = []
        for part in group where !questions.contains(where: { $0.part.attribute == part.attribute }) {
            guard value(part.attribute, key)?.object.needsAuthorization == true else { continue }
            questions.append(ApplicationWrite(part: part, isQuestion: true))
        }
        return questions
    }

    /// Passes the first of several writes to the program; the next one follows when the program has accepted it.
    ///
    /// If no writes are left, reports the success of the whole group.
    mutating func write(_ writes: ApplicationWrites) {
        guard let next = writes.rest.first, let value = value(next.part.attribute, writes.key) else {
            return answer(writes, writes.rest.isEmpty ? .success([]) : .failure(.unlikelyError))
        }
        if value.object.acquiresWrites, !next.isQuestion {
            passToPipe(writes, of: next.part.attribute)
        } else {
            callWriteValue(writes)
        }
    }

    /// Calls `WriteValue` of the program with the first of several writes.
    mutating func callWriteValue(_ writes: ApplicationWrites) {
        guard let next = writes.rest.first, let value = value(next.part.attribute, writes.key) else { return }
        let offset = BusValue.uint16(UInt16(clamping: next.part.offset))
        let type = BusValue.string(writes.transaction == nil ? "command" : "request")
        var options = options(for: writes.central) + [("offset", offset), ("type", type)]
        if next.isQuestion { options.append(("prepare-authorize", .boolean(true))) }
        let body = [BusValue.octets(next.part.value), .properties(options)]
        call(writes.key.client, value.path, value.interface, "WriteValue", body, for: .write(writes))
    }

    /// Continues a group of writes after the program's reply to the first one; if the reply is an error, answers the
    /// group with an ATT error.
    mutating func respond(to writes: ApplicationWrites, _ reply: BusReply) {
        guard case .refused(let refusal) = reply else { return continueWrites(writes) }
        answer(writes, .failure(Self.writeError(for: refusal)))
    }

    /// Passes on the writes after the first one, which the program has accepted.
    mutating func continueWrites(_ writes: ApplicationWrites) {
        var writes = writes
        writes.rest = Array(writes.rest.dropFirst())
        write(writes)
    }

    /// Answers a group of writes, unless it is a command or the application is gone.
    mutating func answer(_ writes: ApplicationWrites, _ response: ServerResponse) {
        guard let transaction = writes.transaction, sessions[writes.key] != nil else { return }
        request(writes.key, .service(.respond(transaction, response)))
    }

    /// Returns the ATT error for a write that a program has refused.
    static func writeError(for refusal: BusReply.Refusal) -> ATT.ErrorCode {
        let code = BlueZError.attribute(refusal.name, refusal.text)
        return code == .readNotPermitted ? .writeNotPermitted : code
    }
}
