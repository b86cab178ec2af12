import BLEHost
import BLEWire
public import Foundation

/// A received advertisement with the properties of its packet.
public struct Advertisement: Hashable, Sendable {
    /// One structure of an advertisement: a type (Assigned Numbers, 2.3) and its data.
    public struct Structure: Hashable, Sendable {
        /// The type, such as 0x09 for a complete local name.
        public let type: UInt8
        /// The data without length and type.
        public let data: Data
    }

    /// The address of the sender.
    public let address: BluetoothAddress
    /// The signal strength in dBm; `nil` if the controller did not measure it.
    public let rssi: Int?
    /// The octets of the advertisement.
    public let data: Data
    /// The octets of the scan response; empty if there was none.
    public let scanResponse: Data
    /// True if the sender accepts connections.
    public let isConnectable: Bool
    /// True if the sender responds to scan requests.
    public let isScannable: Bool
    /// True if the advertisement was directed to this machine.
    public let isDirected: Bool
    /// True if the advertisement was a legacy packet; `false` if it used extended advertising.
    public let isLegacy: Bool
    /// The physical layer of the packet on a primary advertising channel; `nil` if the controller reported an unknown
    /// one.
    public let primaryPhysicalLayer: PhysicalLayer?
    /// The physical layer of the auxiliary packet that carried the data; `nil` if there was no such packet.
    public let secondaryPhysicalLayer: PhysicalLayer?
    /// The sender's identifier of the advertising set, 0 to 15; `nil` if there is none.
    public let setIdentifier: Int?
    /// The transmit power in dBm; `nil` if neither the packet nor its data states it.
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

    /// The structures of the advertisement, followed by those of the scan response.
    ///
    /// Each packet is decoded separately; malformed structures are left out.
    public var structures: [Structure] {
        [data, scanResponse].flatMap { AdvertisingData(decoding: [UInt8]($0)).structures }.map {
            Structure(type: $0.type.wire, data: Data($0.data))
        }
    }
}
