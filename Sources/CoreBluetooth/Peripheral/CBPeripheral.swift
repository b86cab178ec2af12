import BLEHost
import BLERuntime
import BLEWire
public import Foundation

/// A remote device that offers services.
///
/// Apps use it to discover the services and characteristics of the device, to read, write and subscribe to values, and
/// to open L2CAP channels.
///
/// Requests are carried out in the order in which they are made. All methods return immediately; the delegate receives
/// the results. While the peripheral is not connected, requests are ignored, and each writes a line to standard error.
open class CBPeripheral: CBPeer, Observed, @unchecked Sendable {
    let session: any HostSession
    let reference: ManagerReference
    let record: Protected<PeripheralRecord>
    /// The observers of the peripheral's properties.
    let watchers = PropertyObservers()

    init(_ peer: PeerIdentifier, name: String?, session: any HostSession, reference: ManagerReference) {
        self.session = session
        self.reference = reference
        record = Protected(PeripheralRecord(name: name))
        super.init(peer)
    }

    deinit { abandonConnection() }

    func startReportingChanges() { record.reportChanges(to: watchers) }

    /// The delegate, called on the manager's queue.
    open weak var delegate: (any CBPeripheralDelegate)? {
        get { record.withLock { $0.delegate } }
        set { record.withLock { $0.delegate = newValue } }
    }

    /// The name of the device, from its GAP service or otherwise from an advertisement; `nil` if none is known.
    open var name: String? { record.withLock { $0.name } }

    /// The signal strength that was last read, in dBm; `nil` until it has been read.
    @available(*, deprecated, message: "Use readRSSI() instead.")
    open var rssi: NSNumber? { record.withLock { $0.rssi }?.number }

    /// The state of the connection.
    open var state: CBPeripheralState { record.withLock { $0.link.publicState } }

    /// The services discovered during the current connection; `nil` before the first discovery.
    open var services: [CBService]? { record.withLock { $0.database.services } }

    /// True if the peripheral is connected and there is space for a write without response.
    ///
    /// If there is no space, the delegate's ``CBPeripheralDelegate/peripheralIsReady(toSendWriteWithoutResponse:)`` is
    /// called as soon as there is.
    open var canSendWriteWithoutResponse: Bool {
        record.withLock { $0.acceptsRequests && $0.window.isOpen }
    }

    /// True if the device may use the Apple Notification Center Service; always `false` on Linux.
    open var ancsAuthorized: Bool { false }

    /// Reads the signal strength of the connection.
    open func readRSSI() { make(.valid(.readRSSI)) }

    /// Discovers the services of the given types, or all services if `serviceUUIDs` is `nil` or empty.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        make(serviceDiscovery(serviceUUIDs))
    }

    /// Discovers the services that `service` includes: those of the given types, or all if no types are given.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        make(includedServiceDiscovery(includedServiceUUIDs, in: service))
    }

    /// Discovers the characteristics of `service`: those of the given types, or all if no types are given.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        make(characteristicDiscovery(characteristicUUIDs, in: service))
    }

    /// Discovers the descriptors of `characteristic`.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        make(descriptorDiscovery(of: characteristic))
    }

    /// Reads the value of `characteristic`.
    open func readValue(for characteristic: CBCharacteristic) { make(readRequest(for: characteristic)) }

    /// Returns the recommended maximum length of a value in one write, in octets.
    ///
    /// For writes with response, this is 512. For writes without response, this is the length with the highest
    /// throughput. With an MTU of 517, for example, it is usually 495, which fills two link-layer packets; with an MTU
    /// of 247, it is 244, which fills one.
    ///
    /// Longer values can be written without response, too, up to the MTU minus three octets, and at most 512. Values
    /// beyond that are dropped.
    @discardableResult
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        guard type == .withoutResponse else { return ValueLength.longest }
        return record.withLock { ValueLength.fastest(mtu: $0.mtu, packet: $0.details?.transmitOctets ?? 0) }
    }

    /// The maximum length of a value that can be written without response, in octets.
    package var longestCommandValue: Int { ValueLength.longest(mtu: record.withLock { $0.mtu }) }

    /// Writes `data` to `characteristic`.
    ///
    /// With the type `.withoutResponse`, the delegate is not called, and the value may be
    /// dropped if ``canSendWriteWithoutResponse`` is `false`.
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
        if type == .withoutResponse {
            writeCommand(data, to: characteristic)
        } else {
            make(writeRequest(data, for: characteristic))
        }
    }

    /// Subscribes to the values of `characteristic`, or unsubscribes.
    ///
    /// Uses notifications if the characteristic has them, otherwise indications.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        make(subscriptionRequest(enabled, for: characteristic))
    }

    /// Reads the value of `descriptor`.
    open func readValue(for descriptor: CBDescriptor) { make(readRequest(for: descriptor)) }

    /// Writes `data` to `descriptor`.
    ///
    /// - Precondition: `descriptor` is not a Client Characteristic Configuration descriptor (2902); otherwise the
    ///   program ends, as on Apple's systems. Use ``setNotifyValue(_:for:)`` instead.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
        make(writeRequest(data, for: descriptor))
    }

    /// Opens an L2CAP channel to the service with this `PSM`, 1 to 255.
    ///
    /// The app has to learn the PSM from the peripheral, for example by reading a characteristic; it cannot be
    /// discovered.
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) { make(channelRequest(PSM)) }

    /// Starts measuring the distance to the peripheral.
    ///
    /// Not supported: the session always ends with the error ``CBError/operationNotSupported``.
    open func startChannelSoundingSession(_ configuration: CBChannelSoundingSessionConfiguration) {
        refuseSounding()
    }

    /// Stops measuring the distance.
    ///
    /// Has no effect, because measuring is not supported.
    open func cancelChannelSoundingSession() {}

    /// The memory address of the object, and the identifier, name and state of the peripheral, for logs.
    open override var description: String {
        let now = record.withLock { ($0.name, $0.link.publicState) }
        return "<CBPeripheral: \(address), identifier = \(identifier), name = \(now.0 ?? "(null)"), "
            + "state = \(now.1.debugDescription)>"
    }
}
