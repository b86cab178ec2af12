import BLEHost
import BLERuntime
import BLEWire
import CoreBluetooth

/// A client that reads as ``PeerClient`` does, but receives events on the host's loop.
///
/// It measures a read without an app's queue and objects.
final class DirectReader: Sendable {
    private struct State {
        var session: (any HostSession)?
        var peer: PeerIdentifier?
        var good = 0
        var left: Int
    }

    private let state: Locked<State>
    /// Called when the reads begin.
    private let began: @Sendable () -> Void
    /// Called at the end, with the number of reads that returned the right value.
    private let done: @Sendable (Int) -> Void

    init(
        operations: Int,
        began: @escaping @Sendable () -> Void,
        done: @escaping @Sendable (Int) -> Void
    ) {
        state = Locked(State(left: operations))
        self.began = began
        self.done = done
    }

    /// Connects to the first discovered device, and reads.
    func start(on link: some HostLink) {
        let receiver = EventReceiver.inTurn { [weak self] events in
            for event in events { self?.hear(event) }
        }
        state.withLock { $0.session = link.open(.central, restoring: nil, receiver) }
    }

    private func hear(_ event: ClientEvent) {
        if case .peer(_, .characteristicsDiscovered, _) = event { began() }
        let finished = state.withLock { state -> Int? in
            if case .peer(_, .valueRead(_, .success(let value)), _) = event {
                if PeerPlan.value.elementsEqual(value) { state.good += 1 }
                state.left -= 1
                guard state.left > 0 else { return state.good }
            }
            if let request = Self.answer(event, of: &state) { state.session?.send(request) }
            return nil
        }
        if let finished { done(finished) }
    }

    /// Returns the next request after an event; `nil` if there is none.
    private static func answer(_ event: ClientEvent, of state: inout State) -> ClientRequest? {
        switch event {
        case .stateChanged(.poweredOn): return .scan(ScanRequest())
        case .discovered(let report) where state.peer == nil:
            state.peer = report.peer
            return .connect(report.peer, ConnectRequest())
        case .connected(let peer, _): return .peer(peer, .discoverServices(only: [PeerPlan.service.value]))
        case .peer(let peer, .servicesDiscovered(.success(let services)), _):
            guard let range = services.first?.range else { return nil }
            return .peer(peer, .discoverCharacteristics(in: range, only: [PeerPlan.readable.value]))
        case .peer(let peer, .characteristicsDiscovered(_, .success(let found)), _):
            return found.first.map { .peer(peer, .read($0.value)) }
        case .peer(let peer, .valueRead(let handle, .success), _): return .peer(peer, .read(handle))
        default: return nil
        }
    }
}
