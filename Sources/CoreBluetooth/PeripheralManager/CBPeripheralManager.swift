import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
public import Dispatch
public import Foundation

/// Publishes services, advertises them, and answers the centrals that use them.
///
/// Commands before the state is ``CBManagerState/poweredOn`` are ignored with a line on the standard error. Everything
/// returns at once; what comes of it is told to the delegate, on the queue given at the start.
open class CBPeripheralManager: CBManager, @unchecked Sendable {
    let content: Protected<Content>

    /// What a manager knows.
    struct Content {
        weak var delegate: (any CBPeripheralManagerDelegate)?
        var advertising = AdvertisingState()
        var services = PublishedServices()
        var centrals = WeakTable<PeerIdentifier, CBCentral>()
        var window = SendWindow()
        /// Who is connected, whether or not they use this app's services.
        var connections: [ConnectedCentral] = []
    }

    /// Creates a manager without a delegate, on the main queue.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Creates a manager whose delegate is called on `queue`, or on the main queue if that is `nil`.
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: dispatch_queue_t?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager whose delegate is called on `queue`, or on the main queue if that is `nil`.
    ///
    /// The delegate hears of the state as soon as it is known. A manager with a restore identifier goes on where an
    /// earlier launch of the app ended, if the host has kept that; see <doc:LivingInTheBackground>. The other option
    /// is accepted and changes nothing.
    public init(
        delegate: (any CBPeripheralManagerDelegate)?,
        queue: dispatch_queue_t?,
        options: [String: Any]? = nil
    ) {
        content = Protected(Content(delegate: delegate))
        super.init(
            .peripheral,
            of: DefaultLink.current,
            queue: queue,
            restoreIdentifier: options?[CBPeripheralManagerOptionRestoreIdentifierKey]
        )
    }

    deinit { content.withLock { $0.services.withdrawAll() } }

    /// Hears of this manager, on its queue.
    open weak var delegate: (any CBPeripheralManagerDelegate)? {
        get { content.withLock { $0.delegate } }
        set { content.withLock { $0.delegate = newValue } }
    }

    /// Whether the manager advertises.
    open var isAdvertising: Bool { content.withLock { $0.advertising.isAdvertising } }

    /// Whether the app may act as a peripheral; a spelling of long ago.
    @available(*, deprecated, message: "Use CBManager.authorization instead.")
    @discardableResult
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        switch DefaultLink.chosen?.permission ?? .allowed {
        case .undetermined: .notDetermined
        case .restricted: .restricted
        case .denied: .denied
        case .allowed: .authorized
        }
    }

    /// Advertises a name (``CBAdvertisementDataLocalNameKey``) and services (``CBAdvertisementDataServiceUUIDsKey``),
    /// and nothing else that may be in `advertisementData`.
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        guard acceptsCommands() else { return }
        beginAdvertising(advertisementData ?? [:])
    }

    /// Stops advertising.
    open func stopAdvertising() {
        guard acceptsCommands() else { return }
        switch content.withLock({ $0.advertising.stop() }) {
        case .send: session.send(.server(.stopAdvertising))
        case .nothing: break
        }
    }

    /// Asks for another trade between delay and energy on the connection to `central`.
    open func setDesiredConnectionLatency(
        _ latency: CBPeripheralManagerConnectionLatency,
        for central: CBCentral
    ) {
        guard acceptsCommands(), let latency = ConnectionLatency(latency) else { return }
        session.send(.server(.setLatency(central.peer, latency)))
    }

    /// Publishes a service, which can not be changed from now on; those that it includes come first.
    ///
    /// - Precondition: Characteristics with a value can be read and nothing else; otherwise the program ends, as on
    ///   Apple's systems.
    open func add(_ service: CBMutableService) {
        guard acceptsCommands() else { return }
        publish(service)
    }

    /// Takes a service back; those that include it go first.
    open func remove(_ service: CBMutableService) {
        guard acceptsCommands() else { return }
        withdraw(service)
    }

    /// Takes all services back.
    open func removeAllServices() {
        guard acceptsCommands() else { return }
        content.withLock { $0.services.withdrawAll() }
        session.send(.service(.removeAllServices))
    }

    /// Answers a read, or a group of writes by its first request, once.
    ///
    /// For a read, put what the central shall see into ``CBATTRequest/value`` first.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
        guard acceptsCommands() else { return }
        answer(request, result)
    }

    /// Notifies or indicates a value to those of `centrals` that are subscribed, or to all that are if it is `nil`.
    ///
    /// A value that is too long for a central reaches it in part; see ``CBCentral/maximumUpdateValueLength``.
    ///
    /// - Returns: `false` if there is no room; nothing is sent then, and
    ///   ``CBPeripheralManagerDelegate/peripheralManagerIsReady(toUpdateSubscribers:)`` says when to try again.
    @discardableResult
    open func updateValue(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        guard acceptsCommands() else { return false }
        return update(value, for: characteristic, centrals)
    }

    /// Lets centrals open channels, to a number that the delegate is told.
    ///
    /// Nobody can discover it: a characteristic of the type ``CBUUIDL2CAPPSMCharacteristicString`` is the usual way to
    /// make it known.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        guard acceptsCommands() else { return }
        session.send(.server(.publishChannel(encryptionRequired: encryptionRequired)))
    }

    /// Lets centrals open no more channels to `PSM`, and closes those that are open.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        guard acceptsCommands() else { return }
        session.send(.server(.unpublishChannel(SPSM(wire: PSM))))
    }

    override func beWatched() {
        super.beWatched()
        content.tell(watchers)
    }

    override func apply(_ event: ClientEvent, _ latest: inout LatestPeers) {
        switch event {
        case .restored(.peripheral(let state)): restore(state)
        case .stateChanged(let state): stateChanged(CBManagerState(state))
        case .server(let event): apply(event, &latest)
        case .channel(let id, let event): apply(event, to: id)
        case .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .discovered, .connected, .connectFailed,
            .disconnected,
            .peer, .security, .alert, .tester, .restored:
            break
        }
    }
}
