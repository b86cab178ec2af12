import BLERuntime
import BLEWire
import Foundation

extension Adapter {
    /// Returns the output for the adapter, with the information that is available without using the adapter.
    ///
    /// `isPrivileged` is true if this process has CAP_NET_ADMIN, which it needs to use an adapter.
    func fact(isPrivileged: Bool) -> Fact {
        var fields: [String: Any] = [
            "name": "\(index)", "index": Int(index.wire), "state": state.rawValue, "powered": state == .powered,
            "privileged": isPrivileged,
            "holders": holders.map { ["name": $0.name, "process": Int($0.process)] as [String: Any] },
        ]
        fields["address"] = address.map { "\($0)" }
        fields["bus"] = bus.map { "\($0)" }
        fields["blocked"] = block.map { "\($0)" }
        if let information {
            fields["title"] = information.name
            fields["manufacturer"] = "\(information.manufacturer)"
            fields["version"] = "\(information.version)"
            fields["low_energy"] = information.supported.contains(.lowEnergy)
        }
        let use = holders.isEmpty ? "" : " by " + holders.map(\.description).joined(separator: ", ")
        let kind = information.map { "\($0.manufacturer), \($0.version)" }
        let details = [
            bus.map { "\($0)" }, kind, information?.name?.printable,
            information.map { $0.supported.contains(.lowEnergy) ? "LE" : "no LE" }, block.map { "blocked (\($0))" },
        ]
        let parts = details.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
        let place = address.map { "\($0)" } ?? "no address"
        return Fact("adapter", fields, text: "\(index)  \(place)  \(state.rawValue)\(use)  \(parts)")
    }
}

extension ControllerFacts {
    /// Returns the output for the adapter `name`, with the information that its controller has reported.
    func fact(of name: String) -> Fact {
        let names = features.map { "\($0)".components(separatedBy: ", ") } ?? []
        var fields: [String: Any] = ["name": name, "features": names]
        fields["version"] = version.map { "\($0)" }
        fields["manufacturer"] = manufacturer.map { "\($0)" }
        fields["address"] = address.map { "\($0)" }
        fields["roles"] = roles?.map(\.rawValue)
        fields["states"] = states.map { String($0, radix: 16) }
        fields["buffers_shared"] = sharesBuffers
        fields["acl_octets"] = aclOctets
        fields["acl_packets"] = aclPackets
        fields["accept_list"] = acceptListSize
        fields["resolving_list"] = resolvingListSize
        fields["advertising_sets"] = advertisingSets
        fields["advertising_octets"] = advertisingOctets
        let sharing = sharesBuffers ? ", shared with BR/EDR" : ""
        func line(_ title: String, _ value: String?) -> String? { value.map { "  \(title.padded(to: 18))\($0)" } }
        let lines = [
            name, line("version", version.map { "\($0)" }), line("manufacturer", manufacturer.map { "\($0)" }),
            line("address", address.map { "\($0)" }),
            line("roles", roles?.map(\.rawValue).joined(separator: ", ")),
            line("ACL data", aclPackets.map { "\($0.withNoun("packet")) of \(aclOctets ?? 0) octets\(sharing)" }),
            line("accept list", acceptListSize.map { "\($0)" }),
            line("resolving list", resolvingListSize.map { "\($0)" }),
            line("advertising", advertisingSets.map { "\($0) at a time, \(advertisingOctets ?? 0) octets" }),
            line("features", names.joined(separator: ", ")),
        ]
        return Fact("controller", fields, text: lines.compactMap { $0 }.joined(separator: "\n"))
    }
}
