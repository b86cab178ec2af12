import CoreBluetooth

/// One peripheral of one app: the object, and what the documents say about it now.
final class Subject {
    let peripheral: CBPeripheral
    /// The name that it advertises.
    var advertisedName: String?
    var link: LinkModel
    var requests = RequestModel()
    var values: [ObjectIdentifier: ValueModel] = [:]
    /// Since when the machine has had the link that this app has a connection over, and perhaps others before it.
    var linked: Duration?
    /// Since when there has been no room for a value without response.
    var closedSince: Duration?
    /// Which of the app's connections it is, and how many numbers went out on it.
    var connection: UInt32 = 0
    var commands: UInt32 = 0
    var talks: [ChannelTalk] = []

    init(_ peripheral: CBPeripheral, hearsOfReconnecting: Bool) {
        self.peripheral = peripheral
        link = LinkModel(hearsOfReconnecting: hearsOfReconnecting)
    }

    /// The server's machine, if the peripheral has told its name.
    var server: String? { advertisedName ?? peripheral.name }

    var services: [CBService] { peripheral.services ?? [] }
    var characteristics: [CBCharacteristic] { services.flatMap { $0.characteristics ?? [] } }
    var descriptors: [CBDescriptor] { characteristics.flatMap { $0.descriptors ?? [] } }

    /// The connection is over.
    ///
    /// - Returns: The requests that were not answered.
    func end() -> [RequestModel.Request] {
        values = [:]
        closedSince = nil
        talks = []
        return requests.end()
    }
}
