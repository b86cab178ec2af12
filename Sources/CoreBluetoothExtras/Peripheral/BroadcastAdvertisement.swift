import BLEHost
import BLEWire
public import CoreBluetooth
import Foundation

/// An advertisement with options that Core Bluetooth does not offer.
public struct BroadcastAdvertisement {
    /// The local name; `nil` to advertise none.
    public var localName: String?
    /// The UUIDs of the services to advertise.
    public var services: [CBUUID] = []
    /// Manufacturer data, starting with the two octets of the company identifier, least significant first; `nil` to
    /// advertise none.
    public var manufacturerData: Data?
    /// The service data, in the order in which it is advertised.
    public var serviceData: [(service: CBUUID, data: Data)] = []
    /// The flags at the beginning of the advertisement, with the bits of Core Specification Supplement, Part A, 1.3;
    /// `nil` for no flags.
    public var flags: UInt8? = BroadcastRequest.usualFlags.rawValue
    /// The octets of the advertisement and the scan response, sent exactly as given; `nil` to assemble the octets from
    /// the other properties.
    ///
    /// If they are given, the name, services, data and stated power must not be set, and ``flags`` has no effect.
    ///
    /// A legacy advertisement and its scan response have at most 31 octets each. A connectable extended advertisement
    /// has at most 245 octets and no scan response. Any other extended advertisement has either up to 1650 octets, or
    /// no octets and a scan response of up to 251 octets.
    public var packets: (advertisement: Data, scanResponse: Data)?
    /// True if centrals can connect.
    public var isConnectable = true
    /// True to use extended advertising, with up to 1650 octets instead of 31, or up to 245 if centrals can connect.
    ///
    /// Devices older than Bluetooth 5 do not receive such an advertisement.
    public var isExtended = false
    /// The advertising interval, 20 ms to 10.24 s.
    public var interval = Duration.milliseconds(100)
    /// The transmit power, −127 to 20 dBm; `nil` for the controller's choice.
    ///
    /// Requires a controller with Bluetooth 5.
    public var transmitPower: Int?
    /// The transmit power that the advertisement states, −127 to 20 dBm; `nil` to state none.
    public var statedPower: Int?
    /// The primary physical layer of extended advertising: ``PhysicalLayer/le1M`` or ``PhysicalLayer/leCoded``.
    public var primaryPhysicalLayer = PhysicalLayer.le1M
    /// The physical layer of the packets that carry the data in extended advertising.
    public var secondaryPhysicalLayer = PhysicalLayer.le1M

    /// Creates an empty advertisement.
    public init() {}

    var request: AdvertisingRequest? {
        guard primaryPhysicalLayer != .le2M,
            [transmitPower, statedPower].allSatisfy({ $0.map { -127...20 ~= $0 } ?? true })
        else { return nil }
        var broadcast = BroadcastRequest()
        broadcast.manufacturerData = manufacturerData.map { [UInt8]($0) }
        broadcast.serviceData = serviceData.map { .init(service: $0.service.hostValue, data: [UInt8]($0.data)) }
        broadcast.flags = flags.map(ADFlags.init)
        broadcast.octets = packets.map {
            AdvertisementOctets(advertisement: [UInt8]($0.advertisement), scanResponse: [UInt8]($0.scanResponse))
        }
        broadcast.isConnectable = isConnectable
        broadcast.isExtended = isExtended
        broadcast.interval = interval
        broadcast.transmitPower = transmitPower.map { Int8(clamping: $0) }
        broadcast.statedPower = statedPower.map { Int8(clamping: $0) }
        broadcast.primaryPHY = primaryPhysicalLayer.phy
        broadcast.secondaryPHY = secondaryPhysicalLayer.phy
        return AdvertisingRequest(
            localName: localName,
            services: services.map(\.hostValue),
            broadcast: broadcast
        )
    }
}

extension CBPeripheralManager {
    /// Starts advertising, and waits until the host has started it; `stopAdvertising()` stops it.
    ///
    /// - Throws: `CBError.invalidParameters` if a value is out of range or the data does not fit,
    ///   `CBError.operationNotSupported` if the controller lacks extended advertising, `CBError.alreadyAdvertising` if
    ///   the manager is already advertising, `CBError.notConnected` if Bluetooth is off; `CancellationError` if the
    ///   task is cancelled, in which case this advertisement is not advertised.
    public func advertise(_ advertisement: BroadcastAdvertisement) async throws {
        guard state == .poweredOn else { throw CBError(.notConnected) }
        guard !isAdvertising else { throw CBError(.alreadyAdvertising) }
        guard let request = advertisement.request else { throw CBError(.invalidParameters) }
        let number = reserveAdvertisingNumber()
        var hasAsked = false
        do {
            try await firstResult(
                { event -> Result<Void, any Error>? in
                    guard case .server(.advertisingStarted(let failure))? = event,
                        self.answeredAdvertisingNumber == number
                    else { return nil }
                    return failure.map { .failure($0.error(about: .server)) } ?? .success(())
                },
                ask: {
                    guard startAdvertising(request, as: number) else {
                        throw CBError(state == .poweredOn ? .alreadyAdvertising : .notConnected)
                    }
                    hasAsked = true
                }
            )
        } catch let error as CancellationError {
            if hasAsked { stopAdvertising() }
            throw error
        }
    }
}
