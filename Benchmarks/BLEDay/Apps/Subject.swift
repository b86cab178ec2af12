import CoreBluetooth

/// An app's record of one peripheral: the object, and models of what Apple documents about its current state.
final class Subject {
    let peripheral: CBPeripheral
    /// The name that the peripheral advertises.
    var advertisedName: String?
    var link: LinkModel
    var requests = RequestModel()
    var values: [ObjectIdentifier: ValueModel] = [:]
    /// The start of the machine's link that this app uses; `nil` without a connection.
    ///
    /// Other apps may have used the link earlier.
    var linked: Duration?
    /// The time at which the peripheral stopped accepting writes without response; `nil` if it accepts them.
    var closedSince: Duration?
    /// The number of this connection among the app's connections; ``commands`` counts the numbers written on it.
    var connection: UInt32 = 0
    var commands: UInt32 = 0
    var talks: [ChannelTalk] = []

    init(_ peripheral: CBPeripheral, hearsOfReconnecting: Bool) {
        self.peripheral = peripheral
        link = LinkModel(hearsOfReconnecting: hearsOfReconnecting)
    }

    /// The name of the server's machine; `nil` if the peripheral's name is unknown.
    var server: String? { advertisedName ?? peripheral.name }

    var services: [CBService] { peripheral.services ?? [] }
    var characteristics: [CBCharacteristic] { services.flatMap { $0.characteristics ?? [] } }
    var descriptors: [CBDescriptor] { characteristics.flatMap { $0.descriptors ?? [] } }

    /// Clears the record after the end of the connection.
    ///
    /// - Returns: The requests that have not been answered.
    func end() -> [RequestModel.Request] {
        values = [:]
        closedSince = nil
        talks = []
        return requests.end()
    }
}
