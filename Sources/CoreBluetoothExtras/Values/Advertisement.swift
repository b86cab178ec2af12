import BLEHost
import BLEWire
public import Foundation

/// One advertisement as it came, with what the packet told beside its data.
public struct Advertisement: Hashable, Sendable {
    /// A type of Assigned Numbers, 2.3, and the data that it announces.
    public struct Structure: Hashable, Sendable {
        /// What the data are, such as 0x09 for a complete local name.
        public let type: UInt8
        /// The data, without length and type.
        public let data: Data
    }

    /// Where it came from.
    public let address: BluetoothAddress
    /// How strong the signal was, in dBm; `nil` if the controller did not measure it.
    public let rssi: Int?
    /// The octets of the advertisement.
    public let data: Data
    /// The octets of the scan response; empty if there was none.
    public let scanResponse: Data
    /// Whether the sender takes connections.
    public let isConnectable: Bool
    /// Whether the sender answers scan requests.
    public let isScannable: Bool
    /// Whether it was meant for this machine alone.
    public let isDirected: Bool
    /// Whether it came in a packet from before extended advertising.
    public let isLegacy: Bool
    /// The physical layer on which it began.
    public let primaryPhysicalLayer: PhysicalLayer?
    /// The physical layer that carried the data, if they were sent apart.
    public let secondaryPhysicalLayer: PhysicalLayer?
    /// What the sender calls this set of its advertisements, 0 to 15, if it does.
    public let setIdentifier: Int?
    /// How strong it was sent, in dBm, if the packet or its data said so.
    public let transmitPower: Int?

    init(_ report: AdvertisementReport) {
        let packet = report.packet
        address = BluetoothAddress(report.address)
        rssi = report.rssi.dBm.map(Int.init)
        data = Data(report.octets.advertisement)
        scanResponse = Data(report.octets.scanResponse)
        isConnectable = report.isConnectable
        isScannable = packet.isScannable
        isDirected = packet.isDirected
        isLegacy = packet.isLegacy
        primaryPhysicalLayer = PhysicalLayer(packet.primaryPHY)
        secondaryPhysicalLayer = PhysicalLayer(packet.secondaryPHY)
        setIdentifier = packet.set == .none ? nil : Int(packet.set.wire)
        transmitPower =
            packet.transmitPower.dBm.map(Int.init)
            ?? MergedAdvertisement(report.octets).transmitPower.map { Int($0) }
    }

    /// The structures of the advertisement, and then those of the scan response; each packet is decoded by itself, and
    /// malformed structures are left out.
    public var structures: [Structure] {
        [data, scanResponse].flatMap { AdvertisingData(decoding: [UInt8]($0)).structures }.map {
            Structure(type: $0.type.wire, data: Data($0.data))
        }
    }
}
