package import BLEWire

/// A virtual radio that reports the number of its run.
///
/// In each run, an address on a virtual radio belongs to another device, so data about its peers are stored separately
/// for each run. The virtual controllers of this package report the number of the run in the HCI Subversion, which each
/// manufacturer defines. The numbers 0 and 1 mean that the run has no number, as with other virtual controllers.
///
/// Core 6.0, Vol 4, Part E, 7.4.1.
package struct VirtualRadio: Hashable, Sendable {
    /// The address of the controller.
    package let address: DeviceAddress
    package let run: UInt16

    package init(address: DeviceAddress, run: UInt16) {
        self.address = address
        self.run = run
    }
}

extension ControllerDescription {
    /// The virtual radio that this controller claims to be; `nil` if the controller makes no such claim.
    var virtualRadio: VirtualRadio? {
        guard company == CompanyIdentifier.none, subversion > 1, address.isAssigned else { return nil }
        return VirtualRadio(address: address, run: subversion)
    }
}
