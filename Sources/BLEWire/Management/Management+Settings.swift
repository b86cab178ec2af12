extension Management {
    /// A set of adapter settings, such as the current or the supported ones; unknown bits are kept.
    package struct Settings: OptionSet, WireField, Hashable, CustomStringConvertible {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package init(wire: UInt32) { rawValue = wire }
        package var wire: UInt32 { rawValue }

        /// The adapter is powered on, and the kernel's own host uses it.
        package static let powered = Self(rawValue: 1 << 0)
        package static let classic = Self(rawValue: 1 << 7)
        package static let lowEnergy = Self(rawValue: 1 << 9)

        package var description: String {
            names(of: [
                "Powered", "Connectable", "Fast Connectable", "Discoverable", "Bondable", "Link Level Security",
                "Secure Simple Pairing", "BR/EDR", "High Speed", "Low Energy", "Advertising", "Secure Connections",
                "Debug Keys", "Privacy", "Controller Configuration", "Static Address", "PHY Configuration",
                "Wideband Speech", "CIS Central", "CIS Peripheral", "ISO Broadcaster", "Sync Receiver",
            ])
        }
    }

    /// The kind of an adapter: configured and ready for use, or unconfigured; unknown values are kept.
    package struct ControllerKind: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let configured = Self(wire: 0)
        /// The adapter needs configuration, such as an address, before it can be used.
        package static let unconfigured = Self(wire: 1)
    }

    /// The bus that connects an adapter to the computer.
    package struct Bus: WireField, Hashable, CustomStringConvertible {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let virtual = Self(wire: 0)
        package static let usb = Self(wire: 1)
        package static let uart = Self(wire: 3)

        package var description: String {
            let names = ["virtual", "USB", "PCCARD", "UART", "RS232", "PCI", "SDIO", "SPI", "I2C", "SMD", "VIRTIO"]
            return Int(wire) < names.count ? names[Int(wire)] : "bus 0x" + [wire].hexadecimal
        }
    }
}
