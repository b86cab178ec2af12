// The toolset sets this condition for all packages. A package that also builds these sources would get two copies of
// them.
#if COREBLUETOOTH_TOOLSET
    #error("This build has CoreBluetooth twice: from --toolset and from corebluetooth-linux. Leave one out.")
#endif
