import BLEWire
import Testing

/// Assigned Numbers.
@Suite("Assigned names")
struct AssignedNamesTests {
    @Test(
        "Assigned numbers have their names",
        arguments: [
            (0x1800, "Generic Access"), (0x180D, "Heart Rate"), (0x180F, "Battery"), (0x1812, "Human Interface Device"),
            (0x2800, "Primary Service"), (0x2803, "Characteristic"),
            (0x2902, "Client Characteristic Configuration"), (0x2904, "Characteristic Presentation Format"),
            (0x2A00, "Device Name"), (0x2A05, "Service Changed"), (0x2A19, "Battery Level"),
            (0x2A37, "Heart Rate Measurement"), (0x2A6E, "Temperature"), (0x2B2A, "Database Hash"),
        ] as [(UInt16, String)]
    )
    func names(wire: UInt16, name: String) {
        #expect(AssignedNames.attribute(.short(wire)) == name)
    }

    @Test("A UUID has the name of its shortest form, and a custom UUID has none")
    func forms() {
        #expect(AssignedNames.service(.full(BluetoothUUID.short(0x180D).expanded)) == "Heart Rate")
        #expect(AssignedNames.service(.medium(0x180D)) == "Heart Rate")
        #expect(AssignedNames.service(.medium(0x1_180D)) == nil)
        #expect(AssignedNames.attribute(.full(0x180D)) == nil)
        #expect(AssignedNames.characteristic(.short(0x180D)) == nil)
    }

    @Test("Each table stays within the range of its kind")
    func ranges() {
        #expect(AssignedNames.services.keys.allSatisfy { 0x1800...0x18FF ~= $0 || $0 >= 0xFC00 })
        #expect(AssignedNames.characteristics.keys.allSatisfy { 0x2A00...0x2CFF ~= $0 })
        #expect(AssignedNames.descriptors.keys.allSatisfy { 0x2900...0x29FF ~= $0 })
        #expect(AssignedNames.appearanceCategories.keys.allSatisfy { $0 < 1024 })
    }

    @Test("The common tables are well filled")
    func sizes() {
        #expect(AssignedNames.services.count >= 36)
        #expect(AssignedNames.characteristics.count >= 150)
        #expect(AssignedNames.descriptors.count >= 18)
        #expect(AssignedNames.companies.count >= 24)
    }

    @Test("A company without a name is shown as a number")
    func companies() {
        #expect(CompanyIdentifier(wire: 0x004C).description == "Apple")
        #expect(CompanyIdentifier(wire: 0x0059).description == "Nordic Semiconductor")
        #expect(CompanyIdentifier.none.description == "0xFFFF")
    }
}
