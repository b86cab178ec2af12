import BLEWire
import DBus

/// The names of BlueZ's interfaces.
enum BlueZ {
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let service = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    static let descriptor = "org.bluez.GattDescriptor1"
    static let agents = "org.bluez.AgentManager1"
    static let agent = "org.bluez.Agent1"
    static let applications = "org.bluez.GattManager1"
    static let advertisements = "org.bluez.LEAdvertisingManager1"
    static let advertisement = "org.bluez.LEAdvertisement1"
    static let monitors = "org.bluez.AdvertisementMonitorManager1"
    static let monitor = "org.bluez.AdvertisementMonitor1"

    /// A method and the signatures of its arguments and results.
    typealias Method = (name: String, arguments: String, results: String)

    /// Returns the methods of an interface.
    static func methods(of interface: String) -> [Method] {
        switch interface {
        case adapter:
            [
                ("StartDiscovery", "", ""), ("StopDiscovery", "", ""), ("SetDiscoveryFilter", "a{sv}", ""),
                ("GetDiscoveryFilters", "", "as"), ("RemoveDevice", "o", ""), ("ConnectDevice", "a{sv}", "o"),
            ]
        case device:
            [
                ("Connect", "", ""), ("Disconnect", "", ""), ("ConnectProfile", "s", ""),
                ("DisconnectProfile", "s", ""), ("Pair", "", ""), ("CancelPairing", "", ""),
            ]
        case characteristic:
            [
                ("ReadValue", "a{sv}", "ay"), ("WriteValue", "aya{sv}", ""), ("AcquireWrite", "a{sv}", "hq"),
                ("AcquireNotify", "a{sv}", "hq"), ("StartNotify", "", ""), ("StopNotify", "", ""),
                ("Confirm", "", ""),
            ]
        case descriptor: [("ReadValue", "a{sv}", "ay"), ("WriteValue", "aya{sv}", "")]
        case agents: [("RegisterAgent", "os", ""), ("UnregisterAgent", "o", ""), ("RequestDefaultAgent", "o", "")]
        case applications: [("RegisterApplication", "oa{sv}", ""), ("UnregisterApplication", "o", "")]
        case advertisements: [("RegisterAdvertisement", "oa{sv}", ""), ("UnregisterAdvertisement", "o", "")]
        case monitors: [("RegisterMonitor", "o", ""), ("UnregisterMonitor", "o", "")]
        case ObjectTree.properties: [("Get", "ss", "v"), ("Set", "ssv", ""), ("GetAll", "s", "a{sv}")]
        case ObjectTree.introspectable: [("Introspect", "", "s")]
        case ObjectTree.objectManager: [("GetManagedObjects", "", "a{oa{sa{sv}}}")]
        default: []
        }
    }

    /// Returns the signals of an interface.
    static func signals(of interface: String) -> [(name: String, arguments: String)] {
        switch interface {
        case ObjectTree.properties: [("PropertiesChanged", "sa{sv}as")]
        case ObjectTree.objectManager: [("InterfacesAdded", "oa{sa{sv}}"), ("InterfacesRemoved", "oas")]
        default: []
        }
    }

    /// Returns the optional properties of an interface.
    ///
    /// Introspection lists them even for objects that lack them.
    static func properties(of interface: String) -> [(name: String, type: String)] {
        switch interface {
        case device:
            [
                ("Name", "s"), ("Appearance", "q"), ("Icon", "s"), ("RSSI", "n"), ("TxPower", "n"),
                ("ManufacturerData", "a{qv}"), ("ServiceData", "a{sv}"), ("AdvertisingFlags", "ay"),
                ("AdvertisingData", "a{yv}"), ("Modalias", "s"),
            ]
        case characteristic: [("WriteAcquired", "b"), ("NotifyAcquired", "b")]
        case advertisements: [("SupportedSecondaryChannels", "as")]
        default: []
        }
    }

    /// Returns true if programs may set a property.
    static func isWritable(_ name: String, of interface: String) -> Bool {
        switch interface {
        case adapter:
            ["Alias", "Powered", "Discoverable", "DiscoverableTimeout", "Pairable", "PairableTimeout"].contains(name)
        case device: ["Alias", "Trusted", "Blocked", "WakeAllowed"].contains(name)
        default: false
        }
    }
}

extension BluetoothUUID {
    /// The UUID with all 128 bits, in lower case, as BlueZ writes UUIDs.
    var inFull: String {
        let digits = Array(expanded.littleEndianOctets.reversed()).hexadecimal.lowercased()
        var text = "", count = 0
        for digit in digits {
            if [8, 12, 16, 20].contains(count) { text += "-" }
            text.append(digit)
            count += 1
        }
        return text
    }

    /// Parses a UUID in the forms that programs pass to BlueZ, such as `180d` and `0x180d`; `nil` for other text.
    init?(from text: String) { self.init(text.hasPrefix("0x") ? String(text.dropFirst(2)) : text) }
}
