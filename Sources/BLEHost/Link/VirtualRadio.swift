package import BLEWire

/// A virtual radio that says in which run of its program it is.
///
/// An address on a virtual radio belongs to a different device in its next run. So data about peers there is stored
/// separately for each run. The virtual controllers of this package say the number of the run in the HCI Subversion,
/// which is for makers to define; a number up to 1 is none, as with virtual controllers of others.
///
/// Core 6.0, Vol 4, Part E, 7.4.1.
package struct VirtualRadio: Hashable, Sendable {
    /// The address of the controller.
    package let address: DeviceAddress
    /// The number of the run.
    package let run: UInt16

    package init(address: DeviceAddress, run: UInt16) {
        self.address = address
        self.run = run
    }
}

extension ControllerDescription {
    /// The virtual radio that this controller is, as far as it has said.
    var virtualRadio: VirtualRadio? {
        guard company == CompanyIdentifier.none, subversion > 1, address.isGiven else { return nil }
        return VirtualRadio(address: address, run: subversion)
    }
}
