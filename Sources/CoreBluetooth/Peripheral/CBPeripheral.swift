import BLEHost
import BLERuntime
import BLEWire
public import Foundation

/// A remote device that offers services.
///
/// Requests are carried out in the order in which they are made; each returns at once, and what comes of it is told to
/// the delegate. While there is no connection they are ignored with a line on the standard error.
open class CBPeripheral: CBPeer, Observed, @unchecked Sendable {
    let session: any HostSession
    let reference: ManagerReference
    let record: Protected<PeripheralRecord>
    /// Who observes properties of the peripheral.
    let watchers = Watchers()

    init(_ peer: PeerIdentifier, name: String?, session: any HostSession, reference: ManagerReference) {
        self.session = session
        self.reference = reference
        record = Protected(PeripheralRecord(name: name))
        super.init(peer)
    }

    deinit { abandonConnection() }

    func beWatched() { record.tell(watchers) }

    /// Hears of this peripheral, on the manager's queue.
    open weak var delegate: (any CBPeripheralDelegate)? {
        get { record.withLock { $0.delegate } }
        set { record.withLock { $0.delegate = newValue } }
    }

    /// What the device calls itself: in its GAP service if that is known, else in an advertisement.
    open var name: String? { record.withLock { $0.name } }

    /// How strong the signal was when it was last asked for, in dBm.
    @available(*, deprecated, message: "Use readRSSI() instead.")
    open var rssi: NSNumber? { record.withLock { $0.rssi }?.number }

    /// How the manager stands to the device.
    open var state: CBPeripheralState { record.withLock { $0.link.publicState } }

    /// The services that were discovered in this connection; `nil` before that.
    open var services: [CBService]? { record.withLock { $0.database.services } }

    /// Whether there is room for a write without response.
    ///
    /// If there is none, the delegate hears as soon as there is.
    open var canSendWriteWithoutResponse: Bool {
        record.withLock { $0.link.acceptsRequests && $0.window.isOpen }
    }

    /// Whether the device may read the phone's alerts; never on this system.
    open var ancsAuthorized: Bool { false }

    /// Asks how strong the signal is.
    open func readRSSI() { request(.readRSSI) }

    /// Looks for services of the given types, or for all if there is none.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        request(.discoverServices(only: serviceUUIDs?.map(\.value) ?? []))
    }

    /// Looks for services that belong to `service`, of the given types or all.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        discoverIncluded(includedServiceUUIDs?.map(\.value) ?? [], in: service)
    }

    /// Looks for characteristics of `service`, of the given types or all.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        discoverValues(characteristicUUIDs?.map(\.value) ?? [], in: service)
    }

    /// Looks for the descriptors of `characteristic`.
    open func discoverDescriptors(for characteristic: CBCharacteristic) { discoverDescriptions(of: characteristic) }

    /// Reads the value of `characteristic`.
    open func readValue(for characteristic: CBCharacteristic) { read(characteristic) }

    /// The longest value that can be written at once, in octets.
    @discardableResult
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        guard type == .withoutResponse else { return Self.longestValue }
        return min(Self.longestValue, record.withLock { $0.mtu } - 3)
    }

    /// Writes `data` to `characteristic`.
    ///
    /// Without response nothing is told afterwards, and while ``canSendWriteWithoutResponse`` is `false`, values may be
    /// lost.
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
        if type == .withoutResponse { writeCommand(data, to: characteristic) } else { write(data, to: characteristic) }
    }

    /// Has `characteristic` send its value by itself, or no longer: as notifications if it can, else as indications.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        subscribe(enabled, to: characteristic)
    }

    /// Reads the value of `descriptor`.
    open func readValue(for descriptor: CBDescriptor) { read(descriptor) }

    /// Writes `data` to `descriptor`.
    ///
    /// - Precondition: `descriptor` is not the one by which a client asks for notifications (2902), for which there is
    ///   ``setNotifyValue(_:for:)``; that ends the program, as on Apple's systems.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) { write(data, to: descriptor) }

    /// Opens a channel to the service with the number `PSM`, from 1 to 255, which the peripheral has to make known.
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) { openChannel(PSM) }

    /// Measures the distance; answered with ``CBError/operationNotSupported``.
    open func startChannelSoundingSession(_ configuration: CBChannelSoundingSessionConfiguration) {
        refuseSounding()
    }

    /// Ends measuring the distance; there is nothing to end, since it can not begin.
    open func cancelChannelSoundingSession() {}

    /// The device and where it stands, for logs.
    open override var description: String {
        let now = record.withLock { ($0.name, $0.link.publicState) }
        return "<CBPeripheral: \(address), identifier = \(identifier), name = \(now.0 ?? "(null)"), "
            + "state = \(now.1.debugDescription)>"
    }
}
