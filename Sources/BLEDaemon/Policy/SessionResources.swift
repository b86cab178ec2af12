import BLEHost
import BLEWire

/// The services and channels of an app's session, which may have to end when a new policy applies.
///
/// A value without I/O: it records requests and events, and returns requests that end what is not allowed. The host
/// limits how many services and channels there can be.
struct SessionResources: Sendable {
    private var services: [(id: LocalAttributeID, uuid: BluetoothUUID)] = []
    private var published: [SPSM] = []
    private var channels: [ChannelID] = []

    /// Records an allowed request from the app.
    mutating func note(_ request: ServiceRequest) {
        switch request {
        case .addService(let service): services.append((service.id, service.uuid))
        case .removeService(let id): services.removeAll { $0.id == id }
        case .removeAllServices: services = []
        case .respond, .update, .reportConfirmations: break
        }
    }

    /// Records an event from the host.
    mutating func note(_ event: ClientEvent) {
        switch event {
        case .server(.serviceAdded(let id, .some)):
            if let index = services.lastIndex(where: { $0.id == id }) { services.remove(at: index) }
        case .server(.channelPublished(let psm, nil)): published.append(psm)
        case .server(.channelUnpublished(let psm, nil)): published.removeAll { $0 == psm }
        case .server(.channelOpened(let channel, _)), .peer(_, .channelOpened(_, .success(let channel)), _):
            channels.append(channel.id)
        case .channel(let id, .closed): channels.removeAll { $0 == id }
        case .restored(.peripheral(let peripheral)): services = peripheral.services.map { ($0.id, $0.uuid) }
        // Published services and published channels survive if Bluetooth is only switched off. Open channels do not.
        case .stateChanged(.poweredOff): channels = []
        case .stateChanged(let state) where state != .poweredOn: (published, channels) = ([], [])
        default: break
        }
    }

    /// Removes the services and channels that `grant` does not allow, and returns the requests that end them.
    mutating func restrict(to grant: Grant) -> [ClientRequest] {
        guard grant.services != nil else { return [] }
        let lost = services.filter { !grant.allows($0.uuid) }.map(\.id)
        services.removeAll { !grant.allows($0.uuid) }
        defer { (published, channels) = ([], []) }
        return lost.map { .service(.removeService($0)) } + published.map { .server(.unpublishChannel($0)) }
            + channels.map { .channel($0, .close) }
    }
}
