import BLEHost
import BLEWire
public import CoreBluetooth
import Foundation

extension CBPeripheral {
    /// The last known address of the device; `nil` if the device has been neither discovered nor connected since the
    /// manager was created.
    public var bluetoothAddress: BluetoothAddress? { deviceAddress.map(BluetoothAddress.init) }

    /// The last received advertisement of the device; `nil` if there was none.
    public var lastAdvertisement: Advertisement? { lastReport.map(Advertisement.init) }

    /// The connection parameters; `nil` if there is no connection.
    public var connectionParameters: ConnectionParameters? { linkDetails.flatMap(ConnectionParameters.init) }

    /// The physical layer of each direction; `nil` if there is no connection.
    public var physicalLayers: (transmit: PhysicalLayer, receive: PhysicalLayer)? {
        guard let linkDetails, let transmit = PhysicalLayer(linkDetails.transmitPHY),
            let receive = PhysicalLayer(linkDetails.receivePHY)
        else { return nil }
        return (transmit, receive)
    }

    /// The maximum payload of a link-layer packet in each direction, 27 to 251 octets; `nil` if there is no connection.
    public var dataLength: (transmit: Int, receive: Int)? {
        linkDetails.map { ($0.transmitOctets, $0.receiveOctets) }
    }

    /// The security of the connection; `nil` if there is no connection.
    public var connectionSecurity: ConnectionSecurity? { linkDetails.map { ConnectionSecurity($0.security) } }

    /// Requests connection parameters and waits until they are in use.
    ///
    /// - Throws: `CBError.invalidParameters` for a range that is not allowed; other codes if the device or one of the
    ///   controllers refuses the range, or the connection is lost.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.18.
    public func requestConnectionParameters(_ range: ConnectionParameterRange) async throws {
        guard let parameters = range.wire else { throw CBError(.invalidParameters) }
        try await request(.parameters(parameters))
    }

    /// Sets the preferred physical layers for each direction, and waits until the controllers have chosen.
    ///
    /// An empty set means that any physical layer will do.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.49.
    public func requestPhysicalLayers(
        transmit: Set<PhysicalLayer> = [],
        receive: Set<PhysicalLayer> = []
    ) async throws {
        try await request(.physicalLayers(transmit: PHYSet(transmit), receive: PHYSet(receive)))
    }

    /// Suggests a maximum payload for link-layer packets, 27 to 251 octets, and waits until the controller has
    /// answered.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.33.
    public func requestDataLength(_ octets: Int) async throws {
        guard 27...251 ~= octets, let octets = UInt16(exactly: octets) else { throw CBError(.invalidParameters) }
        try await request(.dataLength(octets: octets))
    }

    private func request(_ tuning: LinkTuning) async throws {
        try await answer(
            to: { event -> Result<Void, Failure>? in
                guard case .tuned(_, let failure) = event else { return nil }
                return failure.map { .failure($0) } ?? .success(())
            },
            ask: { .valid(.tune(tuning)) }
        )
    }
}
