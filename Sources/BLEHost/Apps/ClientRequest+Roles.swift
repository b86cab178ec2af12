// The roles that may make each request. Every switch names every case, so that a new request does not compile until its
// roles are chosen.
extension ClientRequest {
    /// The roles whose sessions may make this request.
    ///
    /// Sessions with the role ``ClientRole/tester`` may make any request, so this role is listed only for the requests
    /// that no other role may make.
    package var roles: [ClientRole] {
        switch self {
        case .scan, .stopScan, .connect, .cancelConnection: ClientRole.onlyCentral
        case .peer(_, let request, _): request.roles
        case .server(let request): request.roles
        case .service(let request): request.roles
        case .channel(_, let request): request.roles
        case .security(let request): request.roles
        case .tester: ClientRole.onlyTester
        case .appPhaseChanged: ClientRole.everyApp
        case .showAlerts: ClientRole.onlyAgent
        }
    }

    /// Returns whether a session of this role may make the request.
    package func isAllowed(to role: ClientRole) -> Bool { role == .tester || roles.contains(role) }
}

extension PeerRequest {
    fileprivate var roles: [ClientRole] {
        switch self {
        case .attribute(let request): request.roles
        case .link(let request): request.roles
        case .openChannel: ClientRole.onlyCentral
        }
    }
}

extension AttributeRequest {
    fileprivate var roles: [ClientRole] {
        switch self {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .read,
            .readWithoutPairing, .write, .writePart, .writeCommand, .subscribe, .forgetDatabase:
            ClientRole.onlyCentral
        }
    }
}

extension LinkRequest {
    fileprivate var roles: [ClientRole] {
        switch self {
        case .readRSSI, .tune: ClientRole.onlyCentral
        }
    }
}

extension ServerRequest {
    fileprivate var roles: [ClientRole] {
        switch self {
        case .startAdvertising, .stopAdvertising, .setLatency, .disconnect, .publishChannel, .unpublishChannel:
            ClientRole.onlyPeripheral
        }
    }
}

extension ServiceRequest {
    fileprivate var roles: [ClientRole] {
        switch self {
        case .addService, .removeService, .removeAllServices, .respond, .update, .reportConfirmations:
            ClientRole.onlyPeripheral
        }
    }
}

extension ChannelRequest {
    fileprivate var roles: [ClientRole] {
        switch self {
        case .send, .consumed, .resize, .close: ClientRole.centralOrPeripheral
        }
    }
}

extension SecurityRequest {
    fileprivate var roles: [ClientRole] {
        switch self {
        case .setAgent, .answer, .pair, .setPolicy, .makeOutOfBandData, .takeOutOfBandData, .takeTemporaryKey,
            .listBonds,
            .removeBond:
            ClientRole.onlyAgent
        }
    }
}

extension ClientRole {
    fileprivate static let onlyCentral: [Self] = [.central]
    fileprivate static let onlyPeripheral: [Self] = [.peripheral]
    fileprivate static let onlyAgent: [Self] = [.agent]
    fileprivate static let onlyTester: [Self] = [.tester]
    fileprivate static let centralOrPeripheral: [Self] = [.central, .peripheral]
    fileprivate static let everyApp: [Self] = [.central, .peripheral, .agent]
}
