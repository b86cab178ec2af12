import BLEHost
import BLERuntime
import BLESimulation
public import Dispatch
public import Foundation

/// An object that scans for peripherals and connects to them.
///
/// It reports discovered peripherals, connections and disconnections to its delegate, and retrieves known peripherals
/// by their identifiers.
///
/// Commands are ignored unless the state is ``CBManagerState/poweredOn``; each ignored command writes a line to
/// standard error. All methods return immediately. The delegate receives the results, on the queue that was passed to
/// the initializer.
open class CBCentralManager: CBManager, @unchecked Sendable {
    /// Optional capabilities of the hardware.
    public struct Feature: OptionSet, Sendable {
        /// One bit for each feature.
        public let rawValue: UInt

        /// Creates features from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Scanning for extended advertisements, and connecting to their senders.
        public static var extendedScanAndConnect: Self { Self(rawValue: 1 << 0) }

        /// Measuring the distance to a peer.
        public static var channelSounding: Self { Self(rawValue: 1 << 10) }
    }

    let content: Protected<Content>
    let knowledge: HostKnowledge

    /// The mutable state of a manager.
    struct Content {
        weak var delegate: (any CBCentralManagerDelegate)?
        /// The current scan; `nil` while the manager is not scanning.
        var scan: ScanRequest? {
            didSet {
                hasScanBegun = false
                if let scan { advertisements.begin(scan) }
            }
        }
        /// The number of scans so far, which identifies the current one.
        var scanNumber: UInt32 = 0
        /// True if the devices that the host reports now were discovered by the current scan; `false` if they may
        /// belong to an earlier one.
        var hasScanBegun = false
        /// A closure that is called when the current scan has ended.
        var scanEnd: @Sendable () -> Void = {}
        var peripherals = WeakTable<PeerIdentifier, CBPeripheral>()
        var seen = SeenPeers()
        var advertisements = SeenAdvertisements()
        var links: [SystemLink] = []
        var watch: ConnectionWatch?
        var lastDisconnection: Disconnection?

        /// Replaces the current scan, and returns its ``scanEnd`` closure, which the caller must call.
        mutating func replaceScan(with scan: ScanRequest?) -> @Sendable () -> Void {
            defer { scanEnd = {} }
            self.scan = scan
            return scanEnd
        }
    }

    /// Creates a manager that has no delegate yet and uses the main queue.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Creates a manager whose delegate is called on `queue`, or on the main queue if that is `nil`.
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: dispatch_queue_t?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager whose delegate is called on `queue`, or on the main queue if that is `nil`.
    ///
    /// The delegate receives the state as soon as it is known. A manager with the option
    /// ``CBCentralManagerOptionRestoreIdentifierKey`` continues where an earlier launch of the app ended, if the host
    /// has kept its state; see <doc:LivingInTheBackground>. Other options have no effect.
    public init(
        delegate: (any CBCentralManagerDelegate)?,
        queue: dispatch_queue_t?,
        options: [String: Any]? = nil
    ) {
        let link = DefaultLink.current
        content = Protected(Content(delegate: delegate))
        knowledge = HostKnowledge.of(link)
        super.init(
            .central,
            of: link,
            queue: queue,
            restoreIdentifier: options?[CBCentralManagerOptionRestoreIdentifierKey]
        )
    }

    deinit {
        for peripheral in content.withLock({ $0.peripherals.objects }) { peripheral.radioLost() }
    }

    /// The delegate, called on the manager's queue.
    open weak var delegate: (any CBCentralManagerDelegate)? {
        get { content.withLock { $0.delegate } }
        set { content.withLock { $0.delegate = newValue } }
    }

    /// True if the manager is scanning.
    open var isScanning: Bool { content.withLock { $0.scan != nil } }

    /// Returns whether the hardware has all of `features`.
    ///
    /// The result is valid only while a central manager is powered on.
    @discardableResult
    open class func supports(_ features: CBCentralManager.Feature) -> Bool {
        HostKnowledge.of(DefaultLink.current).includes(features)
    }

    /// Returns the peripherals with these identifiers, in the same order.
    ///
    /// Unknown identifiers are left out.
    ///
    /// A peripheral is known if a manager of this process has discovered it, or if the machine already knew it when a
    /// manager was created.
    @discardableResult
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        guard acceptsCommands() else { return [] }
        return identifiers.compactMap { knownPeripheral(PeerIdentifier($0)) }
    }

    /// Returns the connected peripherals that offer at least one of the services, even if only other apps are connected
    /// to them.
    ///
    /// The app must call ``connect(_:options:)`` before it can use one of the peripherals.
    @discardableResult
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
        guard acceptsCommands() else { return [] }
        let wanted = Set(serviceUUIDs.map(\.value))
        let links = content.withLock { $0.links.filter { !wanted.isDisjoint(with: $0.services) } }
        return links.map { peripheral($0.peer, name: $0.name) }
    }

    /// Scans for devices that advertise at least one of the services, or for all devices if `serviceUUIDs` is `nil` or
    /// empty.
    ///
    /// A manager has one scan at a time: a new scan replaces the current one.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        guard acceptsCommands() else { return }
        begin(ScanRequest(services: serviceUUIDs, options: options, console: reference.console))
    }

    /// Starts a scan.
    ///
    /// Devices that the host discovers before it receives this request belong to the earlier scan.
    ///
    /// - Parameters:
    ///   - scan: The parameters of the scan.
    ///   - prepare: Called with the number of the scan, before the manager receives the scan's first event.
    func begin(_ scan: ScanRequest, prepare: (UInt32) -> Void = { _ in }) {
        let (number, earlierEnd) = content.withLock { content in
            content.scanNumber = max(content.scanNumber &+ 1, 1)
            return (content.scanNumber, content.replaceScan(with: scan))
        }
        earlierEnd()
        prepare(number)
        session.send(.scan(scan, number: number))
    }

    /// Stops the scan; has no effect if there is none.
    open func stopScan() {
        guard acceptsCommands() else { return }
        endScan { _ in true }
    }

    /// Stops the scan if `condition` is true for its number.
    func endScan(where condition: (UInt32) -> Bool) {
        let end = content.withLock { content -> (@Sendable () -> Void)? in
            guard content.scan != nil, condition(content.scanNumber) else { return nil }
            return content.replaceScan(with: nil)
        }
        guard let end else { return }
        session.send(.stopScan)
        end()
    }

    /// Connects to a peripheral.
    ///
    /// The attempt does not time out; ``cancelPeripheralConnection(_:)`` cancels it.
    ///
    /// If the peripheral is already connected, the delegate is called soon after this method has returned.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        guard acceptsCommands(), accepts(peripheral) else { return }
        peripheral.connect(ConnectRequest(options: options, console: reference.console))
    }

    /// Cancels a pending connection to a peripheral, or disconnects from it.
    ///
    /// Connections of other apps to the same device are not affected.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
        guard acceptsCommands(), accepts(peripheral) else { return }
        peripheral.cancelConnection()
    }

    /// Registers for the connections and disconnections of peers that match `options`, whichever app connects to them;
    /// `nil` ends the registration.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        guard acceptsCommands() else { return }
        content.withLock { $0.watch = options.map { [links = $0.links] in ConnectionWatch($0, links: links) } }
    }

    override func startReportingChanges() {
        super.startReportingChanges()
        content.reportChanges(to: watchers)
    }

    override func apply(_ event: ClientEvent, _ latest: inout LatestPeers) {
        if case .peer(let peer, let event, let number) = event {
            if latest.peripheral?.peer.rawValue != peer.rawValue {
                latest.peripheral = content.withLock { $0.peripherals[peer] }
            }
            // The object is taken out and put back, because that costs less than retaining it once more.
            guard let peripheral = latest.peripheral.take() else { return }
            if case .valueNotified(let handle, let value) = event {
                peripheral.notified(handle, value)
            } else {
                peripheral.receive(event, answering: number)
            }
            return latest.peripheral = peripheral
        }
        // After any other event, the app may release the peripheral, so it must not be retained here.
        latest.peripheral = nil
        switch event {
        case .restored(.central(let state)): restore(state)
        case .stateChanged(let state): stateChanged(CBManagerState(state))
        case .featuresChanged(let host): knowledge.update(host)
        case .scanBegan(let number): content.withLock { $0.hasScanBegun = $0.scan != nil && $0.scanNumber == number }
        case .knownPeers(let peers):
            content.withLock { for peer in peers { noteDiscovered(peer.peer, name: peer.name, &$0) } }
        case .systemLinks(let links): linksChanged(links)
        case .discovered(let report): discovered(report)
        case .connected(let peer, let link): connected(peer, link)
        case .connectFailed(let peer, let failure): connectFailed(peer, failure)
        case .disconnected(let peer, let failure, let isReconnecting):
            disconnected(peer, failure, isReconnecting: isReconnecting)
        case .channel(let id, let event): apply(event, to: id)
        case .peer, .server, .security, .alert, .tester, .restored: break
        }
    }
}
