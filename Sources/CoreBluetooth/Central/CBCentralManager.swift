import BLEHost
import BLERuntime
import BLESimulation
public import Dispatch
public import Foundation

/// Finds peripherals and connects to them.
///
/// Commands before the state is ``CBManagerState/poweredOn`` are ignored with a line on the standard error. Everything
/// returns at once; what comes of it is told to the delegate, on the queue given at the start.
open class CBCentralManager: CBManager, @unchecked Sendable {
    /// What the hardware can do beyond the least.
    public struct Feature: OptionSet, Sendable {
        /// One bit for each feature.
        public let rawValue: UInt

        /// Creates features from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Scanning for extended advertisements, and connecting through them.
        public static var extendedScanAndConnect: Self { Self(rawValue: 1 << 0) }

        /// Measuring the distance to a peer.
        public static var channelSounding: Self { Self(rawValue: 1 << 10) }
    }

    let content: Protected<Content>
    let knowledge: HostKnowledge

    /// What a manager knows.
    struct Content {
        weak var delegate: (any CBCentralManagerDelegate)?
        /// What the app scans for; `nil` if it does not scan.
        var scan: ScanRequest? {
            didSet {
                hasScanBegun = false
                if let scan { advertisements.begin(scan) }
            }
        }
        /// How often the app has scanned, which tells its scans apart.
        var scanNumber: UInt32 = 0
        /// Whether what is discovered is of the scan that there is, and no more of an earlier one.
        var hasScanBegun = false
        /// Is called when the scan has ended.
        var scanEnd: @Sendable () -> Void = {}
        var peripherals = WeakTable<PeerIdentifier, CBPeripheral>()
        var seen = SeenPeers()
        var advertisements = SeenAdvertisements()
        var links: [SystemLink] = []
        var watch: ConnectionWatch?
        var departure: Departure?

        /// Scans for this from now on, or for nothing; returns what is to be called, since the scan before has ended.
        mutating func replaceScan(with scan: ScanRequest?) -> @Sendable () -> Void {
            defer { scanEnd = {} }
            self.scan = scan
            return scanEnd
        }
    }

    /// Creates a manager without a delegate, on the main queue.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Creates a manager whose delegate is called on `queue`, or on the main queue if that is `nil`.
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: dispatch_queue_t?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager whose delegate is called on `queue`, or on the main queue if that is `nil`.
    ///
    /// The delegate hears of the state as soon as it is known. A manager with a restore identifier goes on where an
    /// earlier launch of the app ended, if the host has kept that; see <doc:LivingInTheBackground>. The other option
    /// is accepted and changes nothing.
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

    /// Hears of this manager, on its queue.
    open weak var delegate: (any CBCentralManagerDelegate)? {
        get { content.withLock { $0.delegate } }
        set { content.withLock { $0.delegate = newValue } }
    }

    /// Whether the manager scans.
    open var isScanning: Bool { content.withLock { $0.scan != nil } }

    /// Whether the hardware has all of `features`; known while there is a central manager that is ready to be used.
    @discardableResult
    open class func supports(_ features: CBCentralManager.Feature) -> Bool {
        HostKnowledge.of(DefaultLink.current).includes(features)
    }

    /// Returns the peripherals with these identifiers, in this order, leaving out those that are not known.
    ///
    /// Known is whom any manager of the program has met, and whom the machine knew when any of them was made.
    @discardableResult
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        guard acceptsCommands() else { return [] }
        return identifiers.compactMap { knownPeripheral(PeerIdentifier($0)) }
    }

    /// Returns the peripherals that are connected to this machine, by whichever app, and offer one of the services.
    ///
    /// This app must connect to them, too, before it can use them.
    @discardableResult
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
        guard acceptsCommands() else { return [] }
        let wanted = Set(serviceUUIDs.map(\.value))
        let links = content.withLock { $0.links.filter { !wanted.isDisjoint(with: $0.services) } }
        return links.map { peripheral($0.peer, name: $0.name) }
    }

    /// Scans for devices that advertise one of the services, or for all if there is none; takes the place of an
    /// earlier scan.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        guard acceptsCommands() else { return }
        begin(ScanRequest(services: serviceUUIDs, options: options, console: reference.console))
    }

    /// Scans, and takes what the host has discovered by then for what it is, of an earlier scan.
    ///
    /// - Parameters:
    ///   - scan: What to scan for.
    ///   - prepare: Is told the number of the scan, before anything can come of it.
    func begin(_ scan: ScanRequest, prepare: (UInt32) -> Void = { _ in }) {
        let (number, earlierEnd) = content.withLock { content in
            content.scanNumber = max(content.scanNumber &+ 1, 1)
            return (content.scanNumber, content.replaceScan(with: scan))
        }
        earlierEnd()
        prepare(number)
        session.send(.scan(scan, number: number))
    }

    /// Ends the scan.
    open func stopScan() {
        guard acceptsCommands() else { return }
        endScan { _ in true }
    }

    /// Ends the scan, if there is one and `condition` holds for its number.
    func endScan(where condition: (UInt32) -> Bool) {
        let end = content.withLock { content -> (@Sendable () -> Void)? in
            guard content.scan != nil, condition(content.scanNumber) else { return nil }
            return content.replaceScan(with: nil)
        }
        guard let end else { return }
        session.send(.stopScan)
        end()
    }

    /// Connects, however long it takes; ``cancelPeripheralConnection(_:)`` gives up.
    ///
    /// If there is a connection already, the delegate hears of it at once.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        guard acceptsCommands(), accepts(peripheral) else { return }
        peripheral.connect(ConnectRequest(options: options, console: reference.console))
    }

    /// Gives up a connection, pending or established; other apps may keep theirs.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
        guard acceptsCommands(), accepts(peripheral) else { return }
        peripheral.cancelConnection()
    }

    /// Asks to be told when peers connect to this machine or leave it, by whichever app; `nil` for no longer.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        guard acceptsCommands() else { return }
        content.withLock { $0.watch = options.map { [links = $0.links] in ConnectionWatch($0, links: links) } }
    }

    override func beWatched() {
        super.beWatched()
        content.tell(watchers)
    }

    override func apply(_ event: ClientEvent, _ latest: inout LatestPeers) {
        if case .peer(let peer, let event, let number) = event {
            if latest.peripheral?.peer.rawValue != peer.rawValue {
                latest.peripheral = content.withLock { $0.peripherals[peer] }
            }
            // Taken out and put back, since to keep an object once more costs more than that.
            guard let peripheral = latest.peripheral.take() else { return }
            if case .valueNotified(let handle, let value) = event {
                peripheral.notified(handle, value)
            } else {
                peripheral.receive(event, answering: number)
            }
            return latest.peripheral = peripheral
        }
        // Any other may be the end of the object.
        latest.peripheral = nil
        switch event {
        case .restored(.central(let state)): restore(state)
        case .stateChanged(let state): stateChanged(CBManagerState(state))
        case .featuresChanged(let host): knowledge.update(host)
        case .scanBegan(let number): content.withLock { $0.hasScanBegun = $0.scan != nil && $0.scanNumber == number }
        case .knownPeers(let peers): content.withLock { for peer in peers { meet(peer.peer, name: peer.name, &$0) } }
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
