import BLEHost
package import BLEWire
import DBus

/// A socket that carries the values of an exported characteristic for one central: those that the central writes, or
/// those that the program notifies.
///
/// The program creates a pair of sockets when the bridge calls its method `AcquireWrite` or `AcquireNotify`.
struct ExportedPipe: Sendable {
    enum State: Sendable {
        /// The program has not answered yet. These writes wait for its socket.
        case acquiring([ApplicationWrites])
        /// The socket is open. These writes are being passed to it.
        case open([ApplicationWrites])

        var writes: [ApplicationWrites] {
            switch self {
            case .acquiring(let writes), .open(let writes): writes
            }
        }
    }

    let key: BlueZBridge.SessionKey
    let id: LocalAttributeID
    let central: PeerIdentifier
    let isNotify: Bool
    var state: State
    /// True if the central has disconnected, but its write commands still wait for the program's socket.
    var hasEnded = false
    /// True while the bridge does not read the socket, because the host has too many unsent values.
    var isPaused = false
}

extension BlueZBridge {
    /// Returns the number of the pipe for a characteristic and a central; `nil` if there is none.
    private func exportedPipe(
        _ id: LocalAttributeID,
        _ central: PeerIdentifier,
        _ key: SessionKey,
        isNotify: Bool
    ) -> PipeNumber? {
        exportedPipes.keys.first { number in
            guard let pipe = exportedPipes[number], !pipe.hasEnded else { return false }
            return pipe.id == id && pipe.central == central && pipe.key == key && pipe.isNotify == isNotify
        }
    }

    /// Asks the program for a socket, for which `writes` wait; returns false if there are too many sockets.
    private mutating func acquire(
        _ id: LocalAttributeID,
        _ central: RemoteCentral,
        _ key: SessionKey,
        isNotify: Bool,
        for writes: [ApplicationWrites] = []
    ) -> Bool {
        let count = exportedPipes.all.count { $0.key.client == key.client }
        guard exportedPipes.count < Limit.exportedPipes, count < Limit.clientExportedPipes,
            let value = value(id, key)
        else { return false }
        let number = nextNumber()
        exportedPipes[number] = ExportedPipe(
            key: key,
            id: id,
            central: central.peer,
            isNotify: isNotify,
            state: .acquiring(writes)
        )
        let member = isNotify ? "AcquireNotify" : "AcquireWrite", body = [BusValue.properties(options(for: central))]
        call(key.client, value.path, value.interface, member, body, for: .pipe(number))
        return true
    }

    /// Processes the program's reply to `AcquireWrite` or `AcquireNotify`.
    ///
    /// The MTU in the reply has no effect, as in BlueZ.
    mutating func acquired(_ number: PipeNumber, _ reply: BusReply, _ sockets: Int) {
        guard let pipe = exportedPipes[number], case .acquiring(let writes) = pipe.state else { return }
        guard case .values(let values, _) = reply, values.count == 2, case .descriptor(let index) = values[0],
            case .uint16 = values[1], index < sockets
        else { return notAcquired(number, pipe, reply) }
        _ = exportedPipes.update(number) { $0.state = .open([]) }
        act(.takePipe(number, Int(index)))
        for writes in writes { pass(writes, to: number) }
        guard pipe.hasEnded else { return }
        exportedPipes[number] = nil
        act(.closePipe(number))
    }

    /// Continues without a socket, unless the program's error refuses the write or the subscription.
    private mutating func notAcquired(_ number: PipeNumber, _ pipe: ExportedPipe, _ reply: BusReply) {
        exportedPipes[number] = nil
        if case .refused(let refusal) = reply {
            let error = Self.writeError(for: refusal)
            if pipe.isNotify {
                let names = ["org.bluez.Error.Failed", "org.freedesktop.DBus.Error.NoReply"]
                guard !names.contains(refusal.name) else { return }
            } else if error != .unlikelyError {
                for writes in pipe.state.writes { answer(writes, .failure(error)) }
                return
            }
        }
        if pipe.isNotify { startNotifying(pipe.central, pipe.id, pipe.key) }
        for writes in pipe.state.writes { callWriteValue(writes) }
    }

    /// Closes the pipes for which `isMeant` returns true, and refuses the writes that wait for them.
    mutating func closeExportedPipes(where isMeant: (ExportedPipe) -> Bool) {
        for number in exportedPipes.keys {
            guard let pipe = exportedPipes[number], isMeant(pipe) else { continue }
            exportedPipes[number] = nil
            if case .open = pipe.state { act(.closePipe(number)) }
            for writes in pipe.state.writes { answer(writes, .failure(.unlikelyError)) }
        }
    }

    /// Closes the pipes of an application for centrals that are not among `peers`, because they have disconnected.
    mutating func endExportedPipes(of key: SessionKey, except peers: [PeerIdentifier]) {
        for number in exportedPipes.keys {
            guard let pipe = exportedPipes[number], pipe.key == key, !peers.contains(pipe.central) else { continue }
            guard case .acquiring(let writes) = pipe.state else { continue }
            // A central may write a command and disconnect before the program has answered.
            let commands = writes.filter { $0.transaction == nil }
            guard !commands.isEmpty else { continue }
            _ = exportedPipes.update(number) { ($0.state, $0.hasEnded) = (.acquiring(commands), true) }
        }
        closeExportedPipes { $0.key == key && !peers.contains($0.central) && !$0.hasEnded }
    }

    /// Processes `value`, which a program has written to its socket; `nil` means that the program has closed the
    /// socket.
    mutating func receiveExported(_ value: [UInt8]?, from number: PipeNumber) {
        guard let pipe = exportedPipes[number] else { return }
        guard let value else {
            exportedPipes[number] = nil
            act(.closePipe(number))
            for writes in pipe.state.writes { answer(writes, .failure(.unlikelyError)) }
            return
        }
        guard pipe.isNotify else { return }
        send([UInt8](value.prefix(512)), of: pipe.id, to: [pipe.central], pipe.key)
        guard sessions[pipe.key]?.updates ?? 0 >= Limit.updates else { return }
        _ = exportedPipes.update(number) { $0.isPaused = true }
        act(.pausePipe(number))
    }
}

// Writes of centrals.
extension BlueZBridge {
    /// Passes the first of several writes to the program's socket for its characteristic; if there is none, asks the
    /// program for one.
    ///
    /// The offset of a write is lost, as with BlueZ.
    mutating func passToPipe(_ writes: ApplicationWrites, of id: LocalAttributeID) {
        guard let number = exportedPipe(id, writes.central.peer, writes.key, isNotify: false) else {
            if !acquire(id, writes.central, writes.key, isNotify: false, for: [writes]) { callWriteValue(writes) }
            return
        }
        switch exportedPipes[number]?.state {
        case .acquiring(let waiting)?:
            guard waiting.count < Limit.acquiringWrites else {
                return answer(writes, .failure(.insufficientResources))
            }
            _ = exportedPipes.update(number) { $0.state = .acquiring(waiting + [writes]) }
        case .open?: pass(writes, to: number)
        case nil: break
        }
    }

    private mutating func pass(_ writes: ApplicationWrites, to number: PipeNumber) {
        guard case .open(let passing)? = exportedPipes[number]?.state, let part = writes.rest.first?.part else {
            return
        }
        _ = exportedPipes.update(number) { $0.state = .open(passing + [writes]) }
        act(.passWrite(number, part.value))
    }

    /// Processes the result of ``Action/passWrite(_:_:)``; `isPassed` is false if the program reads too slowly or has
    /// closed its socket.
    package mutating func passed(_ isPassed: Bool, to number: PipeNumber, at time: Instant) -> [Action] {
        now = time
        if case .open(let passing)? = exportedPipes[number]?.state, let writes = passing.first {
            _ = exportedPipes.update(number) { $0.state = .open(Array(passing.dropFirst())) }
            if isPassed { continueWrites(writes) } else { answer(writes, .failure(.unlikelyError)) }
        }
        return takeActions()
    }
}

// Subscriptions of centrals.
extension BlueZBridge {
    private mutating func change(
        _ id: LocalAttributeID,
        _ key: SessionKey,
        _ change: (inout Application.Value) -> Void
    ) {
        guard case .application(let number) = key.purpose else { return }
        _ = applications.update(number) { _ = $0.values.update(id, change) }
    }

    mutating func subscribed(_ central: RemoteCentral, _ id: LocalAttributeID, _ key: SessionKey) {
        guard let value = value(id, key), !value.subscribers.contains(central.peer) else { return }
        change(id, key) { $0.subscribers.append(central.peer) }
        guard value.object.acquiresNotifications, acquire(id, central, key, isNotify: true) else {
            return startNotifying(central.peer, id, key)
        }
    }

    /// Calls `StartNotify` of the program, unless it already sends values by changes of the property `Value`.
    private mutating func startNotifying(_ central: PeerIdentifier, _ id: LocalAttributeID, _ key: SessionKey) {
        guard let value = value(id, key), value.subscribers.contains(central) else { return }
        change(id, key) { $0.started.append(central) }
        if value.started.isEmpty { call(key.client, value.path, value.interface, "StartNotify") }
    }

    mutating func unsubscribed(_ central: PeerIdentifier, _ id: LocalAttributeID, _ key: SessionKey) {
        guard let value = value(id, key), value.subscribers.contains(central) else { return }
        change(id, key) { value in
            value.subscribers.removeAll { $0 == central }
            value.started.removeAll { $0 == central }
        }
        closeExportedPipes { $0.isNotify && $0.key == key && $0.id == id && $0.central == central }
        if value.started == [central] { call(key.client, value.path, value.interface, "StopNotify") }
    }

    /// Sends a value to the subscribed centrals; if `centrals` is not `nil`, only to those of them.
    mutating func send(
        _ value: [UInt8],
        of id: LocalAttributeID,
        to centrals: [PeerIdentifier]?,
        _ key: SessionKey
    ) {
        _ = sessions.update(key) { $0.updates += 1 }
        request(key, .service(.update(id, value, to: centrals)))
    }

    mutating func updatesTaken(_ count: Int, _ key: SessionKey) {
        _ = sessions.update(key) { $0.updates = max(0, $0.updates - count) }
        guard sessions[key]?.updates ?? 0 < Limit.updates else { return }
        for number in exportedPipes.keys where exportedPipes[number]?.key == key {
            guard exportedPipes[number]?.isPaused == true else { continue }
            _ = exportedPipes.update(number) { $0.isPaused = false }
            act(.resumePipe(number))
        }
    }

    /// Informs the program that a central has confirmed an indication: with an octet on its socket for the central or,
    /// if there is none, with a call to `Confirm`.
    mutating func confirmed(_ central: PeerIdentifier, _ id: LocalAttributeID, _ key: SessionKey) {
        guard let value = value(id, key) else { return }
        if let number = exportedPipe(id, central, key, isNotify: true), case .open? = exportedPipes[number]?.state {
            act(.writePipe(number, [1]))
        } else {
            call(key.client, value.path, value.interface, "Confirm")
        }
    }
}
