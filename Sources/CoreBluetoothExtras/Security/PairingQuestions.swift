import BLEHost
import BLERuntime

/// What tasks have asked the host about pairing and bonds, and wait to hear.
final class PairingQuestions: Sendable {
    private struct Content {
        var lists: [Answer<[Bond]>] = []
        var data: [Answer<OutOfBandData>] = []
        var pairings: [(peer: PeerIdentifier, answer: Answer<PairingMethod>)] = []
        /// Whether nothing will be answered.
        var isOver = false
    }

    private let content = Locked(Content())

    /// Waits for the bonds that `ask` asks for.
    func list(ask: () -> Void) async throws -> [Bond] {
        try Task.checkCancellation()
        let answer = Answer<[Bond]>()
        let isOver = content.withLock {
            $0.lists.append(answer)
            return $0.isOver
        }
        if isOver { giveUp() } else { ask() }
        return try await answer.value
    }

    /// Waits for what comes of the pairing that `ask` asks for.
    func pair(with peer: PeerIdentifier, ask: () -> Void) async throws -> PairingMethod {
        try Task.checkCancellation()
        let answer = Answer<PairingMethod>()
        let isOver = content.withLock {
            $0.pairings.append((peer, answer))
            return $0.isOver
        }
        if isOver { giveUp() } else { ask() }
        return try await answer.value
    }

    /// Waits for what `ask` has made.
    func data(ask: () -> Void) async throws -> OutOfBandData {
        try Task.checkCancellation()
        let answer = Answer<OutOfBandData>()
        let isOver = content.withLock {
            $0.data.append(answer)
            return $0.isOver
        }
        if isOver { giveUp() } else { ask() }
        return try await answer.value
    }

    func hear(_ event: SecurityEvent) {
        switch event {
        case .outOfBandDataMade(let told):
            let answer = content.withLock { $0.data.isEmpty ? nil : $0.data.removeFirst() }
            answer?.give(.success(OutOfBandData(told)))
        case .bonds(let bonds): takeList()?.give(.success(bonds.map { Bond($0) }))
        case .paired(let peer, let method, _):
            for answer in takePairings(with: peer) { answer.give(.success(PairingMethod(method))) }
        case .failed(let peer, let failure):
            for answer in takePairings(with: peer) { answer.give(.failure(PairingError(failure))) }
        case .asked, .withdrawn, .secured: break
        }
    }

    /// Nothing will be answered any more.
    func giveUp() {
        let old = content.withLock { content in
            defer { content = Content(isOver: true) }
            return content
        }
        for answer in old.lists { answer.give(.failure(PairingError.unsupported)) }
        for answer in old.data { answer.give(.failure(PairingError.unsupported)) }
        for (_, answer) in old.pairings { answer.give(.failure(PairingError.unsupported)) }
    }

    private func takeList() -> Answer<[Bond]>? {
        content.withLock { $0.lists.isEmpty ? nil : $0.lists.removeFirst() }
    }

    private func takePairings(with peer: PeerIdentifier) -> [Answer<PairingMethod>] {
        content.withLock { content in
            defer { content.pairings.removeAll { $0.peer == peer } }
            return content.pairings.filter { $0.peer == peer }.map(\.answer)
        }
    }
}
