import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
public import Dispatch
public import Foundation

/// An object that publishes services, advertises them, and answers the requests of centrals.
///
/// It reports requests and subscriptions to its delegate, sends updated values to subscribers, and publishes L2CAP
/// channels.
///
/// Commands are ignored unless the state is ``CBManagerState/poweredOn``; each ignored command writes a line to
/// standard error. All methods return immediately. The delegate receives the results, on the queue that was passed to
/// the initializer.
open class CBPeripheralManager: CBManager, @unchecked Sendable {
    let content: Protected<Content>

    /// The mutable state of a manager.
    struct Content {
        weak var delegate: (any CBPeripheralManagerDelegate)?
        var advertising = AdvertisingState()
        var services = PublishedServices()
        var centrals = WeakTable<PeerIdentifier, CBCentral>()
        var window = SendWindow()
        /// The connected centrals, whether or not they use this app's services.
        var connections: [ConnectedCentral] = []
    }

    /// Creates a manager that has no delegate yet and uses the main queue.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Creates a manager whose delegate is called on `queue`, or on the main queue if that is `nil`.
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: dispatch_queue_t?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager whose delegate is called on `queue`, or on the main queue if that is `nil`.
    ///
    /// The delegate receives the state as soon as it is known. A manager with the option
    /// ``CBPeripheralManagerOptionRestoreIdentifierKey`` continues where an earlier launch of the app ended, if the
    /// host has kept its state; see <doc:LivingInTheBackground>. Other options have no effect.
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

    /// The delegate, called on the manager's queue.
    open weak var delegate: (any CBPeripheralManagerDelegate)? {
        get { content.withLock { $0.delegate } }
        set { content.withLock { $0.delegate = newValue } }
    }

    /// True if the manager is advertising.
    open var isAdvertising: Bool { content.withLock { $0.advertising.isAdvertising } }

    /// Returns the app's permission to act as a peripheral (deprecated; use `CBManager.authorization`).
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

    /// Advertises a name (``CBAdvertisementDataLocalNameKey``) and services (``CBAdvertisementDataServiceUUIDsKey``).
    ///
    /// Other keys are ignored, with a line on standard error.
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

    /// Requests a latency for the connection to `central`.
    open func setDesiredConnectionLatency(
        _ latency: CBPeripheralManagerConnectionLatency,
        for central: CBCentral
    ) {
        guard acceptsCommands(), let latency = ConnectionLatency(latency) else { return }
        session.send(.server(.setLatency(central.peer, latency)))
    }

    /// Publishes a service.
    ///
    /// A service cannot be changed while it is published.
    ///
    /// The services that it includes must be published first.
    ///
    /// - Precondition: Each characteristic that has a value is read-only; otherwise the program ends, as on Apple's
    ///   systems.
    open func add(_ service: CBMutableService) {
        guard acceptsCommands() else { return }
        publish(service)
    }

    /// Removes a service.
    ///
    /// Services that include this one must be removed first.
    open func remove(_ service: CBMutableService) {
        guard acceptsCommands() else { return }
        withdraw(service)
    }

    /// Removes all services that this manager has published.
    open func removeAllServices() {
        guard acceptsCommands() else { return }
        content.withLock { $0.services.withdrawAll() }
        session.send(.service(.removeAllServices))
    }

    /// Answers a read request, or a group of write requests.
    ///
    /// Answer each read request. In a group of write requests, answer only the first: that answers the whole group.
    ///
    /// To answer a read successfully, set ``CBATTRequest/value`` first.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
        guard acceptsCommands() else { return }
        answer(request, result)
    }

    /// Sends a notification or indication with a value to those of `centrals` that are subscribed, or to all subscribed
    /// centrals if `centrals` is `nil`.
    ///
    /// A value that is too long for a central is truncated; see ``CBCentral/maximumUpdateValueLength``.
    ///
    /// - Returns: `false` if the value is not sent to any central, because there is no space in the send queue, the
    ///   manager is not powered on, or it has not published `characteristic`. If there is no space, try again when
    ///   ``CBPeripheralManagerDelegate/peripheralManagerIsReady(toUpdateSubscribers:)`` is called.
    @discardableResult
    open func updateValue(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        guard acceptsCommands() else { return false }
        return update(value, for: characteristic, centrals)
    }

    /// Publishes an L2CAP service.
    ///
    /// The host chooses the PSM, and the delegate receives it. If `encryptionRequired` is true, the host accepts
    /// channels only over an encrypted link.
    ///
    /// Centrals cannot discover the PSM. The usual way to announce it is a characteristic of the type
    /// ``CBUUIDL2CAPPSMCharacteristicString``.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        guard acceptsCommands() else { return }
        session.send(.server(.publishChannel(encryptionRequired: encryptionRequired)))
    }

    /// Unpublishes an L2CAP service and closes its channels.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        guard acceptsCommands() else { return }
        session.send(.server(.unpublishChannel(SPSM(wire: PSM))))
    }

    override func startReportingChanges() {
        super.startReportingChanges()
        content.reportChanges(to: watchers)
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

/// True to alert the user if Bluetooth is off when the manager is created: an `NSNumber` with a `Bool`.
///
/// Accepted, but has no effect: there is no screen to show an alert on.
public let CBPeripheralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"

/// The restore identifier of a manager: a `String`.
public let CBPeripheralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

/// The services that an earlier launch published: `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey: String = "kCBRestoredServices"

/// The advertisement from an earlier launch: `[String: Any]`.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey: String = "kCBRestoredAdvertisement"
