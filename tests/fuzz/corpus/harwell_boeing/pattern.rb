A seed                                                                  SEED    
             2             1             1             0
psa                        3             3             3             0
(4I3)           (4I3)                               
  1  2  3  4
  1  2  3
