import BLERuntime

// Nothing can ask a delegate which optional methods it has; the default of one says so when it is called instead.
extension HostSession {
    /// Reports that the delegate lacks a method for which the app was woken in the background.
    ///
    /// Worlds list it as a finding.
    ///
    /// Core Bluetooth Programming Guide, “Core Bluetooth Background Processing”: an app that declares the mode is woken
    /// for connections and values, or for requests and subscriptions, and is expected to handle them.
    func reportMissing(_ method: String) {
        report("Core Bluetooth Background Processing: delegate methods", "the delegate lacks \(method)")
    }
}
