import BLEHost
import BLEWire
public import CoreBluetooth
import Foundation

extension CBPeripheral {
    /// Where the device was reached or heard last; `nil` if it was neither since the manager was created.
    public var bluetoothAddress: BluetoothAddress? { deviceAddress.map(BluetoothAddress.init) }

    /// The advertisement of the device that was heard last.
    public var lastAdvertisement: Advertisement? { lastReport.map(Advertisement.init) }

    /// How often the ends of the connection meet; `nil` if there is none.
    public var connectionParameters: ConnectionParameters? { linkDetails.flatMap(ConnectionParameters.init) }

    /// The physical layers of what is sent and of what is received; `nil` if there is no connection.
    public var physicalLayers: (transmit: PhysicalLayer, receive: PhysicalLayer)? {
        guard let linkDetails, let transmit = PhysicalLayer(linkDetails.transmitPHY),
            let receive = PhysicalLayer(linkDetails.receivePHY)
        else { return nil }
        return (transmit, receive)
    }

    /// The longest payload of one packet on the air, 27 to 251 octets, of what is sent and of what is received; `nil`
    /// if there is no connection.
    public var dataLength: (transmit: Int, receive: Int)? {
        linkDetails.map { ($0.transmitOctets, $0.receiveOctets) }
    }

    /// How far the connection can be trusted; `nil` if there is none.
    public var connectionSecurity: ConnectionSecurity? { linkDetails.map { ConnectionSecurity($0.security) } }

    /// Asks for other connection parameters, and returns when they are in force.
    ///
    /// - Throws: `CBError.invalidParameters` for a range that must not be asked for; other codes if the device or a
    ///   controller refuses, or the connection is lost.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.18.
    public func requestConnectionParameters(_ range: ConnectionParameterRange) async throws {
        guard let parameters = range.wire else { throw CBError(.invalidParameters) }
        try await request(.parameters(parameters))
    }

    /// Says which physical layers are preferred, any if empty, and returns when the controllers have chosen.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.49.
    public func requestPhysicalLayers(
        transmit: Set<PhysicalLayer> = [],
        receive: Set<PhysicalLayer> = []
    ) async throws {
        try await request(.physicalLayers(transmit: PHYSet(transmit), receive: PHYSet(receive)))
    }

    /// Suggests how long the payload of a packet on the air may be: 27 to 251 octets.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.33.
    public func requestDataLength(_ octets: Int) async throws {
        guard 27...251 ~= octets, let octets = UInt16(exactly: octets) else { throw CBError(.invalidParameters) }
        try await request(.dataLength(octets: octets))
    }

    private func request(_ tuning: LinkTuning) async throws {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .tuned(tuning, let failure) = event else { return nil }
                return failure.map { .failure($0) } ?? .success(())
            },
            ask: { tune(tuning) }
        )
    }
}
