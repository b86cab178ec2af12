import BLEHost
import BLEWire

// The arguments of requests, translated into the host's types.
extension HostCall {
    /// Returns the requested advertising set.
    func advertisingSet() throws -> AdvertisingSetRequest {
        var parameters = AdvertisingParameters()
        parameters.isLegacy = try flag("legacy", otherwise: true)
        parameters.isConnectable = try flag("connectable", otherwise: false)
        parameters.target = try address(under: "target")
        let response = try octets("scan_response")
        let answersAll = parameters.isLegacy && parameters.isConnectable
        parameters.isScannable = try flag("scannable", otherwise: answersAll || !response.isEmpty)
        if answersAll { parameters.isScannable = parameters.target == nil }
        parameters.ownAddress = try ownAddress()
        if let interval = try duration("interval_ms", in: 20...10_240) { parameters.interval = interval }
        parameters.primaryPHY = try phy("primary_phy")
        parameters.secondaryPHY = try phy("secondary_phy")
        return AdvertisingSetRequest(parameters, data: try octets("data"), scanResponse: response)
    }

    /// Returns the scan parameters; `isLegacy` is true if only legacy advertisements are wanted.
    func scan() throws -> (parameters: ScanParameters, isLegacy: Bool) {
        var parameters = ScanParameters()
        parameters.isActive = !(try flag("passive", otherwise: false))
        parameters.ownAddress = try ownAddress()
        if let interval = try duration("interval_ms", in: 2.5...10_240) { parameters.interval = interval }
        let window = try duration("window_ms", in: 2.5...10_240) ?? min(.milliseconds(30), parameters.interval)
        guard window <= parameters.interval else { throw InvalidInput("window_ms: must not exceed interval_ms") }
        let layers = try words("phys") ?? ["1M"]
        guard !layers.isEmpty, layers.allSatisfy({ ["1M", "Coded"].contains($0) }) else {
            throw InvalidInput("phys: expected a list of \"1M\", \"Coded\" or both")
        }
        // Scanning on two PHYs must fit into one interval.
        let share = layers.count > 1 ? min(window, parameters.interval / 2) : window
        parameters.window = layers.contains("1M") ? share : nil
        parameters.codedWindow = layers.contains("Coded") ? share : nil
        return (parameters, try flag("legacy", otherwise: false))
    }

    private func phy(_ key: String) throws -> PHY {
        guard let name = try word(key) else { return .le1M }
        guard let phy = [PHY.le1M, .le2M, .leCoded].first(where: { $0.name == name }) else {
            throw InvalidInput("\(key): expected 1M, 2M or Coded")
        }
        return phy
    }

    /// Returns the requested I/O capability for pairing.
    func capability() throws -> SMP.IOCapability {
        let number: Int
        if let name = try? word("io_capability") {
            guard let index = Self.capabilities.firstIndex(of: name.lowercased()) else {
                let names = Self.capabilities.joined(separator: ", ")
                throw InvalidInput("io_capability: expected a whole number from 0 to 4, or one of \(names)")
            }
            number = index
        } else {
            number = try neededNumber("io_capability", in: 0...4)
        }
        guard let capability = SMP.IOCapability(wire: UInt8(number)) else {
            throw InvalidInput("io_capability: expected a whole number from 0 to 4")
        }
        return capability
    }

    private static let capabilities = [
        "display_only", "display_yes_no", "keyboard_only", "no_input_no_output", "keyboard_display",
    ]

    /// Returns the test suite's reply to a pairing question.
    func pairingReply() throws -> PairingReply {
        if let passkey = try number("passkey", in: Int(SMP.passkeys.lowerBound)...Int(SMP.passkeys.upperBound)) {
            return .passkey(UInt32(passkey))
        }
        guard has("confirm") else { throw InvalidInput("confirm or passkey is missing") }
        return .confirm(try flag("confirm", otherwise: false))
    }
}

extension PHY {
    /// The name that test suites use for this PHY; `nil` if there is none.
    var name: String? {
        switch self {
        case .le1M: "1M"
        case .le2M: "2M"
        case .leCoded: "Coded"
        default: nil
        }
    }
}
