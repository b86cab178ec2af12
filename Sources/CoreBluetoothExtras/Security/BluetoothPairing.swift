import BLEHost
import BLERuntime
import BLESimulation
public import CoreBluetooth
public import Dispatch

/// Looks after pairing and bonds: asks the user where Apple's systems show an alert, and lists, makes and removes
/// bonds.
///
/// Core Bluetooth has no call to pair: what a device refuses for want of it starts pairing, and is asked again
/// afterwards. Where nobody asks the user, devices are paired if an app needs it (``UnattendedPairing``), in a way
/// that keeps out nobody who may stand in between.
///
///     let pairing = BluetoothPairing(capability: .displayYesNo) { event in
///         if case .asked(let prompt) = event { prompt.accept() }
///     }
///
/// Of several that ask the user, the latest does, for as long as it is there. Where apps of several users share a radio
/// through the daemon, an app is asked about the devices of its own user's apps, and lists and removes the bonds of
/// its own user; root, the user of the daemon and apps that its policy names are not limited so.
public final class BluetoothPairing: Sendable {
    /// What is told, in order, on the queue.
    public enum Event: Sendable {
        case asked(PairingPrompt)
        /// What was asked about this device needs no answer any more.
        case withdrawn(UUID)
        /// Devices were paired, and whether keys are kept.
        case paired(UUID, PairingMethod, isBonded: Bool)
        case failed(UUID, PairingError)
    }

    private let session: any HostSession
    private let questions: PairingQuestions

    /// Begins to listen, and to ask the user if that has a capability.
    ///
    /// - Parameters:
    ///   - capability: What the user can be shown and asked; `nil` to ask nothing.
    ///   - queue: Where `handler` is called; a queue of its own if `nil`.
    ///   - handler: Hears of every event.
    public init(
        capability: PairingCapability? = nil,
        queue: DispatchQueue? = nil,
        handler: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        let appQueue = queue ?? DispatchQueue(label: "CoreBluetooth.pairing")
        let queue = DispatchQueue(label: "CoreBluetooth", target: appQueue)
        queue.setSpecific(key: Bluetooth.appQueue, value: appQueue)
        let questions = PairingQuestions()
        self.questions = questions
        let own = Locked<(any HostSession)?>(nil)
        queue.suspend()
        session = DefaultLink.current.open(.agent, on: queue) { event in
            if case .stateChanged(.unsupported) = event { questions.giveUp() }
            guard case .security(let event) = event else { return }
            questions.hear(event)
            guard let session = own.withLock(\.self), let event = Event(event, session: session) else { return }
            handler(event)
        }
        own.withLock { [session] in $0 = session }
        queue.resume()
        if let capability { session.send(.security(.attend(capability.wire))) }
    }

    deinit {
        questions.giveUp()
        session.close()
    }

    /// All bonds of this host, those that were of use last at the end.
    ///
    /// - Throws: ``PairingError/unsupported`` if there is no Bluetooth, or `CancellationError`.
    public func bonds() async throws -> [Bond] {
        try await questions.list { session.send(.security(.listBonds)) }
    }

    /// Forgets the bond with a device, and ends the connection to it.
    ///
    /// The device is not told, and refuses or forgets the bond when it is met again.
    ///
    /// - Returns: The bonds that are left.
    @discardableResult
    public func removeBond(with identifier: UUID) async throws -> [Bond] {
        try await questions.list { session.send(.security(.removeBond(PeerIdentifier(identifier)))) }
    }

    /// Pairs with a device that is connected.
    ///
    /// - Returns: How the devices made sure of each other.
    /// - Throws: ``PairingError``, or `CancellationError`.
    @discardableResult
    public func pair(with peer: CBPeer) async throws -> PairingMethod {
        let identifier = PeerIdentifier(peer.identifier)
        return try await questions.pair(with: identifier) { session.send(.security(.pair(identifier))) }
    }

    /// Refuses pairings that come to less, and does not use bonds that are worth less, for as long as this object is
    /// there.
    ///
    /// A device whose bond is not good enough is paired with anew. Connections that are encrypted already stay so. Of
    /// several policies, the strictest counts in each point.
    ///
    /// Where apps share a radio through the daemon, a policy counts for the connections of this app. Keys of a device
    /// that another app is connected to as well are kept all the same.
    ///
    /// - Parameters:
    ///   - policy: What is required.
    ///   - allApps: Whether it counts for all apps that share the radio, which only administrators may say: root, the
    ///     user of the daemon, and apps that its policy names. The daemon refuses it to others, and its log says so.
    public func insist(on policy: PairingPolicy, forAllApps allApps: Bool = false) {
        session.send(.security(.insist(policy.wire, everywhere: allApps)))
    }

    /// Makes what this host can tell a device by other means than Bluetooth, such as a code that is shown or NFC, so
    /// that they can pair without anybody in between.
    ///
    /// It is good for one pairing; what was made before is void.
    ///
    /// - Throws: ``PairingError/unsupported`` if there is no Bluetooth, or `CancellationError`.
    public func makeOutOfBandData() async throws -> OutOfBandData {
        try await questions.data { session.send(.security(.makeOutOfBandData)) }
    }

    /// Uses what a device has told by other means than Bluetooth in the next pairing with it.
    ///
    /// - Parameters:
    ///   - data: What it told; `nil` to forget that.
    ///   - peer: The device.
    public func use(_ data: OutOfBandData?, from peer: CBPeer) {
        session.send(.security(.takeOutOfBandData(data?.told, from: PeerIdentifier(peer.identifier))))
    }

    /// Uses a key that both devices know by other means in the next pairing, which is done the legacy way then.
    ///
    /// That is for devices from before Core 4.2; ``use(_:from:)`` protects others better. A bond by LE Secure
    /// Connections is not replaced so.
    ///
    /// - Parameters:
    ///   - key: The key; `nil` to forget it.
    ///   - peer: The device; `nil` for whichever pairs next, as a peripheral does not know it before.
    public func use(_ key: TemporaryKey?, with peer: CBPeer? = nil) {
        session.send(.security(.takeTemporaryKey(key?.key, with: peer.map { PeerIdentifier($0.identifier) })))
    }
}

extension BluetoothPairing.Event {
    /// What an app hears of an event of the host; `nil` if that answers somebody who waits for it.
    fileprivate init?(_ event: SecurityEvent, session: any HostSession) {
        switch event {
        case .asked(let inquiry): self = .asked(PairingPrompt(inquiry, session: session))
        case .withdrawn(let peer): self = .withdrawn(UUID(peer))
        case .paired(let peer, let method, let isBonded):
            self = .paired(UUID(peer), PairingMethod(method), isBonded: isBonded)
        case .failed(let peer, let failure): self = .failed(UUID(peer), PairingError(failure))
        case .secured, .bonds, .outOfBandDataMade: return nil
        }
    }
}
