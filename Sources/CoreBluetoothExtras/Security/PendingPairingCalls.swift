import BLEHost
import BLERuntime

/// The calls to a ``BluetoothPairing`` object that are waiting for a host event.
final class PendingPairingCalls: Sendable {
    private struct Content {
        var lists: [PendingResult<[Bond]>] = []
        var data: [PendingResult<OutOfBandData>] = []
        var pairings: [(peer: PeerIdentifier, answer: PendingResult<PairingMethod>)] = []
        /// True while the host answers no requests.
        var isOver = false
    }

    private let content = Locked(Content())

    /// Calls `ask`, which requests the bonds, and waits for them.
    func list(ask: () -> Void) async throws -> [Bond] {
        try await answer(addedBy: { $0.lists.append($1) }, ask: ask)
    }

    /// Calls `ask`, which starts a pairing with `peer`, and waits for its result.
    func pair(with peer: PeerIdentifier, ask: () -> Void) async throws -> PairingMethod {
        try await answer(addedBy: { $0.pairings.append((peer, $1)) }, ask: ask)
    }

    /// Calls `ask`, which requests out-of-band data, and waits for the data.
    func data(ask: () -> Void) async throws -> OutOfBandData {
        try await answer(addedBy: { $0.data.append($1) }, ask: ask)
    }

    /// Adds a pending result with `add`, calls `ask`, and waits for the result.
    ///
    /// `ask` is called while the content is locked, so that requests of several threads have the order of the pending
    /// results.
    private func answer<Value: Sendable>(
        addedBy add: @Sendable (inout Content, PendingResult<Value>) -> Void,
        ask: () -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let answer = PendingResult<Value>()
        let isOver = content.withLock { content in
            add(&content, answer)
            if !content.isOver { ask() }
            return content.isOver
        }
        if isOver { giveUp() }
        return try await answer.value
    }

    func receive(_ event: SecurityEvent) {
        switch event {
        case .outOfBandDataMade(let data):
            let answer = content.withLock { $0.data.isEmpty ? nil : $0.data.removeFirst() }
            answer?.resolve(.success(OutOfBandData(data)))
        case .bonds(let bonds): takeList()?.resolve(.success(bonds.map { Bond($0) }))
        case .paired(let peer, let method, _):
            for answer in takePairings(with: peer) { answer.resolve(.success(PairingMethod(method))) }
        case .failed(let peer, let failure):
            for answer in takePairings(with: peer) { answer.resolve(.failure(PairingError(failure))) }
        case .asked, .withdrawn, .secured: break
        }
    }

    /// Fails all pending calls if the host no longer answers them; allows later calls if it answers again.
    ///
    /// After a restart of the host, a late result could otherwise be taken for that of a later call.
    func stateChanged(_ state: HostState) {
        switch state {
        case .poweredOn, .poweredOff: content.withLock { $0.isOver = false }
        case .resetting, .unsupported, .unauthorized: giveUp()
        case .unknown: break
        }
    }

    /// Fails all pending calls with ``PairingError/unsupported``, and all later ones until the host is available again.
    func giveUp() {
        let old = content.withLock { content in
            defer { content = Content(isOver: true) }
            return content
        }
        for answer in old.lists { answer.resolve(.failure(PairingError.unsupported)) }
        for answer in old.data { answer.resolve(.failure(PairingError.unsupported)) }
        for (_, answer) in old.pairings { answer.resolve(.failure(PairingError.unsupported)) }
    }

    private func takeList() -> PendingResult<[Bond]>? {
        content.withLock { $0.lists.isEmpty ? nil : $0.lists.removeFirst() }
    }

    private func takePairings(with peer: PeerIdentifier) -> [PendingResult<PairingMethod>] {
        content.withLock { content in
            defer { content.pairings.removeAll { $0.peer == peer } }
            return content.pairings.filter { $0.peer == peer }.map(\.answer)
        }
    }
}
